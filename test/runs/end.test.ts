import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { type EndedRun, whyEnded } from '../../query-api/runs/end.ts'
import { readMigrations } from '../../server/database/migrations.ts'
import { asExecutor } from '../servers/as-executor.ts'
import { startForge } from '../servers/forge.ts'
import { createRun, ingest } from '../servers/runs.ts'
import { until } from '../servers/until.ts'

const failed: EndedRun = {
  state: 'failed',
  end_reason: 'reported',
  exit_code: null,
  signal: null,
  message: null,
}

const told: [string | null, Partial<EndedRun>][] = [
  [null, { state: 'running' }],
  [null, { state: 'succeeded', exit_code: 0 }],
  ['nothing was heard of it for a day', { state: 'abandoned' }],
  ['its code did not say why', {}],
  ['its code did not say why', { message: ' \n ' }],
  ['ValueError: bad lr', { message: 'Traceback:\n  File x\nValueError: bad lr\n' }],
  [
    'exit code 1: ValueError: bad lr',
    { exit_code: 1, message: 'exit code 1\nValueError: bad lr\nforge: all sent  http://f/runs/r' },
  ],
  ['exit code 1', { exit_code: 1, message: 'exit code 1\nforge: all sent' }],
  ['exit code 1: ValueError: bad lr', { exit_code: 1, message: 'ValueError: bad lr' }],
  ['exit code 1', { exit_code: 1, message: 'exit code 1' }],
  ['exit code 3', { message: 'exit code 3' }],
  ['exit code 137 (SIGKILL)', { exit_code: 137, message: 'ended by SIGKILL' }],
  ['exit code 2', { end_reason: 'exit_code', exit_code: 2, message: 'It exited with code 2' }],
  ['ended by SIGSEGV', { end_reason: 'exit_code', signal: 'SIGSEGV' }],
  ['ran out of memory and was killed', { end_reason: 'oom_killed', signal: 'SIGKILL' }],
  [
    'could not be started: no such program: pyton',
    { end_reason: 'launch_error', message: 'no such program: pyton' },
  ],
  [
    'reached a limit: max_duration_s (60) is reached',
    { state: 'stopped', end_reason: 'limit', message: 'max_duration_s (60) is reached' },
  ],
  ['somebody stopped it', { state: 'stopped', end_reason: 'user', exit_code: 143 }],
  [`exit code 1: ${'x'.repeat(300)}…`, { exit_code: 1, message: 'x'.repeat(6000) }],
]
for (const [why, run] of told)
  test(`why: ${JSON.stringify(run).slice(0, 80)}`, t => {
    t.is(whyEnded({ ...failed, ...run }), why)
  })

test('an ended run shows how it ended, and its last report is not later than that', async t => {
  const forge = await startForge(t)
  const run = await createRun(forge)
  const read = async () =>
    (await forge.call<Record<string, unknown>>('GET', `/api/runs/${run.run_id}`)).body
  await ingest(forge, run, 'lifecycle', { event: 'running' })
  await ingest(forge, run, 'logs', { chunks: ['one'] })
  const nothing = { exit_code: null, signal: null, end_reason: null, message: null, why: null }
  t.like(await read(), nothing)
  await ingest(forge, run, 'lifecycle', { event: 'failed', exit_code: 1, message: 'KeyError: 0' })
  const end = { exit_code: 1, signal: null, end_reason: 'reported', message: 'KeyError: 0' }
  const ended = await until('the end is shown', 20_000, async () => {
    const record = await read()
    return record.state === 'failed' ? record : null
  })
  t.like(ended, { ...end, why: 'exit code 1: KeyError: 0' })
  const closed = await until('the log is closed', 20_000, async () => {
    const record = await read()
    return (record.logs as { eof: boolean }).eof ? record : null
  })
  t.true(String(closed.last_report_at) <= String(closed.ended_at))
})

const migration = (name: string) => readFileSync(join(readMigrations, name), 'utf8')

test('an upgrade fills in the end of earlier runs as the projection would have', async t => {
  const forge = await startForge(t, { SERVICE_ROLES: 'command-api,relay,projector,query-api' })
  await forge.call('PUT', '/api/admin/profiles/spare', {
    body: { series: 'X', gpus_per_node: 1, executor: 'local' },
  })
  const spec = { resources: { profile: 'spare' } }
  const lock = (await forge.call<object>('GET', '/api/recipes/digits/1.0.0/lock')).body
  const metadata = { name: 'job', project: 'demo' }
  const { body: job } = await forge.call<{ run_id: string }>('POST', '/api/jobs', {
    body: { api: 'forge/v2', metadata, lock, spec },
  })
  const executor = asExecutor(forge.pool)
  const at = new Date().toISOString()
  await executor.schedule(job.run_id, [])
  await executor.executorRunning(job.run_id, 1, at)
  const exit = { exit_code: null, signal: 'SIGSEGV', oom_killed: false, launch_error: null }
  await executor.exited(job.run_id, 1, { started_at: at, exit: { ...exit, ended_at: at } })
  for (const end of [
    { event: 'succeeded', exit_code: 0 },
    { event: 'failed', exit_code: 1, message: 'KeyError: 0' },
    { event: 'running' },
  ])
    await ingest(forge, await createRun(forge), 'lifecycle', end)
  const stopped = await createRun(forge)
  const body = { reason: 'enough', force: true }
  await forge.call('POST', `/api/runs/${stopped.run_id}/stop`, { body })

  const ends = async () =>
    (await forge.pool.query('select * from read.run_ends order by run_id')).rows
  const told = await until('all ends are projected', 20_000, async () => {
    const rows = await ends()
    return rows.length === 4 && rows.some(row => row.signal !== null) ? rows : null
  })
  await until('the logs are closed', 30_000, async () => {
    const { rows } = await forge.pool.query('select from read.log_runs where eof_at is not null')
    return rows.length === 4
  })
  const upgrade = migration('0380_run_ends.sql')
  await forge.pool.query(`
    begin;
    set local search_path to read;
    delete from run_ends;
    ${upgrade.slice(upgrade.indexOf('insert into run_ends'))}
    update log_runs set last_ms = round(extract(epoch from eof_at) * 1000);
    ${migration('0381_last_reports.sql')}
    commit`)
  t.deepEqual(await ends(), told)
  const { rows } = await forge.pool.query(`
    select from read.log_runs l join read.runs r using (run_id)
     where l.last_ms <= extract(epoch from r.ended_at) * 1000`)
  t.is(rows.length, 4)
})
