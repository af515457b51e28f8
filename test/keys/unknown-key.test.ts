import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import test from 'ava'
import { loadKeys } from '../../auth/keys.ts'

test('names of keys that nobody has share looks into the folder, and a new key is still found at once', async t => {
  const folder = await mkdtemp(join(tmpdir(), 'forge-keys-'))
  t.teardown(() => rm(folder, { recursive: true }))
  const [here, elsewhere] = [await loadKeys(folder), await loadKeys(folder)]
  const invented = Array.from(
    { length: 2000 },
    (_, n) => `zzzzzzzz-${n.toString(16).padStart(8, '0')}`,
  )
  const opened = () =>
    process.getActiveResourcesInfo().filter(name => name === 'FSReqPromise').length
  const before = opened()
  const asked = Promise.all(invented.map(kid => here.find(kid)))
  await setImmediate()
  await setImmediate()
  t.true(opened() - before <= 1, `${opened()} requests to the file system`)
  t.true((await asked).every(key => key === null))
  const made = await elsewhere.prepare(new Date())
  await made.activate()
  t.is((await here.find(made.kid))?.kid, made.kid)
})
