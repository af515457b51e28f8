import test from 'ava'
import type { Recorded } from '../../events/event.ts'
import type { JobEvent } from '../../events/jobs.ts'
import { database } from '../servers/postgres.ts'
import { project } from '../servers/project.ts'
import { admission, exited, ran, repriced } from './given.ts'

const recorded = (events: readonly JobEvent[]): Recorded[] =>
  events.map((event, index) => ({
    ...event,
    event_id: `01900000-0000-7000-8000-${String(index + 1).padStart(12, '0')}`,
    schema_version: event.type === 'job.admitted' ? 2 : 1,
    stream: 'job-run_1',
    stream_version: index + 1,
    occurred_at: `2026-11-22T00:00:${String(index).padStart(2, '0')}.000Z`,
    actor: { type: 'system', id: 'test', via: 'test' },
    request_id: 'r',
    causation_id: null,
  }))

test('the ledger gets a line for each day and price once an attempt has ended; a late price is a correction', async t => {
  const { pool } = await database(t)
  await project(
    pool,
    recorded([
      admission(2, '3.6000'),
      ran(1, '2026-11-20T23:59:50.000Z'),
      exited(1, '2026-11-21T00:00:10.000Z'),
      repriced('7.2000', '2026-11-21T00:00:05.000Z'),
      ran(2, '2026-11-21T08:00:00.000Z'),
    ]),
  )
  const { rows: runs } = await pool.query(
    'select run_id, owner, project, is_open from read.usage_runs',
  )
  t.deepEqual(runs, [{ run_id: 'run_1', owner: 'ada', project: 'math-rl', is_open: true }])
  const { rows } = await pool.query(
    `select nth, attempt, day, sign, price_per_gpu_hour as price, gpu_ms, cost_micro
       from read.usage_lines where run_id = 'run_1' and owner = 'ada' and project = 'math-rl' order by nth`,
  )
  const line = (
    nth: number,
    day: string,
    sign: number,
    price: string,
    gpu_ms: string,
    cost_micro: string,
  ) => ({ nth, attempt: 1, day, sign, price, gpu_ms, cost_micro })
  t.deepEqual(rows, [
    line(0, '2026-11-20', 1, '3.6000', '20000', '20000'),
    line(1, '2026-11-21', 1, '3.6000', '20000', '20000'),
    line(2, '2026-11-21', -1, '3.6000', '-20000', '-20000'),
    line(3, '2026-11-21', 1, '3.6000', '10000', '10000'),
    line(4, '2026-11-21', 1, '7.2000', '10000', '20000'),
  ])
})

test('an attempt may have any number of lines', async t => {
  const { pool } = await database(t)
  const began = '2000-01-01T00:00:00.000Z'
  await project(
    pool,
    recorded([admission(2, '3.6000'), ran(1, began), exited(1, '2026-11-20T00:00:00.000Z')]),
  )
  const { rows } = await pool.query(
    'select count(*) as lines, sum(gpu_ms) as gpu_ms, max(nth) as last from read.usage_lines',
  )
  const days = (Date.parse('2026-11-20') - Date.parse(began)) / 86_400_000
  t.deepEqual(rows, [{ lines: days, gpu_ms: String(2 * days * 86_400_000), last: days - 1 }])
})
