import test from 'ava'
import { type EndedRun, whyEnded } from '../../schemas/why-ended.ts'
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

/** How the run ended, or a few seconds later what its diagnosis found. */
const aboutKey = /^(exit code 1: )?KeyError: 0$/

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
  t.like(ended, end)
  t.regex(String(ended.why), aboutKey)
  const closed = await until('the log is closed', 20_000, async () => {
    const record = await read()
    return (record.logs as { eof: boolean }).eof ? record : null
  })
  t.true(String(closed.last_report_at) <= String(closed.ended_at))
})

test('a list says of each run why it ended without success', async t => {
  const forge = await startForge(t)
  const [failed, succeeded, running] = [
    await createRun(forge),
    await createRun(forge),
    await createRun(forge),
  ]
  for (const run of [failed, succeeded, running])
    await ingest(forge, run, 'lifecycle', { event: 'running' })
  await ingest(forge, failed, 'lifecycle', {
    event: 'failed',
    exit_code: 1,
    message: 'KeyError: 0',
  })
  await ingest(forge, succeeded, 'lifecycle', { event: 'succeeded' })
  type Row = { run_id: string; state: string; why: string | null }
  let rows: Row[] = []
  await until('all of them are listed as they ended', 10_000, async () => {
    rows = (await forge.call<Row[]>('GET', '/api/runs')).body
    return ['failed', 'succeeded', 'running'].every(state => rows.some(row => row.state === state))
  })
  const [why, ...others] = [failed, succeeded, running].map(
    ({ run_id }) => rows.find(row => row.run_id === run_id)?.why,
  )
  t.regex(String(why), aboutKey)
  t.deepEqual(others, [null, null])
})
