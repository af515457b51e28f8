import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { loadKeys } from '../../auth/keys.ts'

test('unknown key names share reads of the folder, and a new key is still found at once', async t => {
  const folder = await mkdtemp(join(tmpdir(), 'forge-keys-'))
  t.teardown(() => rm(folder, { recursive: true }))
  const [here, elsewhere] = [await loadKeys(folder), await loadKeys(folder)]
  const invented = Array.from(
    { length: 2000 },
    (_, n) => `zzzzzzzz-${n.toString(16).padStart(8, '0')}`,
  )
  t.true((await Promise.all(invented.map(kid => here.find(kid)))).every(key => key === null))
  // One after the other, so they wait for each other's reads.
  const began = performance.now()
  for (const kid of invented.slice(0, 10)) await here.find(kid)
  t.true(performance.now() - began >= 850)
  const made = await elsewhere.prepare(new Date())
  await made.activate()
  t.is((await here.find(made.kid))?.kid, made.kid)
})
