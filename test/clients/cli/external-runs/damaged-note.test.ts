import { mkdtemp, rm, truncate } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { openSpool } from '../../../../clients/cli/external-runs/spool.ts'

test('a run whose note is damaged is claimed once more, instead of failing', async t => {
  const root = await mkdtemp(join(tmpdir(), 'forge-note-'))
  t.teardown(() => rm(root, { recursive: true }))
  const spool = openSpool({ FORGE_SPOOL_DIR: root }, 'local_1', null)
  t.is(await spool.address(), null)
  const address = { endpoint: 'http://127.0.0.1:1/api/ingest', run_id: 'run_1', token: 'x' }
  await spool.note(address)
  t.deepEqual(await spool.address(), address)
  for (const bytes of [20, 0]) {
    await truncate(join(spool.folder, 'run.json'), bytes)
    t.is(await spool.address(), null)
  }
  await spool.note(address)
  t.deepEqual(await spool.address(), address)
})
