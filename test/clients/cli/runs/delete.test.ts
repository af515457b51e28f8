import test from 'ava'
import { commandLine } from '../../../servers/command-line.ts'
import { startForge } from '../../../servers/forge.ts'
import { createRun, ingest } from '../../../servers/runs.ts'

test('forge delete asks, hides a run, and restore brings it back', async t => {
  const forge = await startForge(t, { SERVICE_ROLES: 'command-api,relay,projector,query-api' })
  const { run } = await commandLine(t, { FORGE_HOST: forge.url, FORGE_TOKEN: forge.token })
  const ended = await createRun(forge)
  await ingest(forge, ended, 'lifecycle', { event: 'succeeded' })
  const active = await createRun(forge)

  const asked = await run(['delete', ended.short_id])
  t.is(asked.code, 2)
  t.regex(asked.stderr, /--yes/)

  const some = await run(['delete', '--yes', ended.short_id, active.short_id])
  t.is(some.code, 5)
  t.regex(some.stdout, new RegExp(`^${ended.run_id} deleted$`, 'm'))
  t.regex(some.stderr, /1 of 2 were not deleted/)
  t.regex(some.stderr, /stop it first/)
  t.regex(some.stderr, new RegExp(`forge restore ${ended.short_id}`))

  t.is((await run(['ps', '-a', '-q'])).stdout.trim(), active.run_id)
  t.is((await run(['ps', '--deleted', '-q'])).stdout.trim(), ended.run_id)
  const restored = await run(['restore', ended.short_id, '--json'])
  t.like(JSON.parse(restored.stdout), { run_id: ended.run_id, restored: true, already: false })
  t.is((await run(['ps', '--deleted', '-q'])).stdout.trim(), '')
})
