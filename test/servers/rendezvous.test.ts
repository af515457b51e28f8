import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { answerIn } from './rendezvous.ts'

test('a host that ended without an address is reported at once, with its log', async t => {
  const folder = await mkdtemp(join(tmpdir(), 'forge-test-'))
  t.teardown(() => rm(folder, { recursive: true }))
  const host = spawn(process.execPath, ['--eval', ''])
  await once(host, 'exit')
  await writeFile(join(folder, 'pid'), String(host.pid))
  await writeFile(join(folder, 'host.log'), 'Error: terminating connection')
  await t.throwsAsync(answerIn('redis', folder), {
    message: 'the host of redis ended before it was up: Error: terminating connection',
  })
  await writeFile(join(folder, 'address'), 'redis://127.0.0.1:1')
  t.is(await answerIn('redis', folder), 'redis://127.0.0.1:1')
})
