import test from 'ava'
import type { UsageTables } from '../../projector/usage/table.ts'
import { readBill, readBills, readCostsSince, readToday } from '../../query-api/rules/ledger.ts'
import { database } from '../servers/postgres.ts'

const started_at = '2026-11-20T10:00:00.000Z'
const ended_at = '2026-11-20T10:00:01.000Z'
const now = new Date(ended_at)
const metered = (end: string | null) =>
  JSON.stringify({
    gpus: 2,
    rates: [{ since: null, price_per_gpu_hour: '3.60' }],
    attempts: [{ attempt: 1, started_at, ended_at: end }],
  })

test('a bill read while an attempt ends includes the attempt once', async t => {
  const { kysely: db, pool } = await database<UsageTables>(t, { schema: 'read' })
  const begin = (run_id: string) =>
    pool.query('insert into usage_runs values ($1, $1, $1, $2, true)', [run_id, metered(null)])
  /** In one statement, as in the transaction of the projector. */
  const end = (run_id: string) =>
    pool.query(
      `with closed as (update usage_runs set is_open = false, metered = $2 where run_id = $1)
       insert into usage_lines values ($1, 0, $1, $1, 1, '2026-11-20', $3, $4, 1, '3.60', 2000, 2000)`,
      [run_id, metered(ended_at), started_at, ended_at],
    )
  for (let n = 0; n < 60; n++) {
    const run_id = `run_${n}`
    await begin(run_id)
    const reads = Array.from({ length: 4 }, async () => [
      (await readBill(db, run_id, now)).map(({ gpu_ms }) => gpu_ms),
      [(await readBills(db, [run_id], now))(run_id).gpu_ms],
      [await readToday(db, run_id, now)],
    ])
    const [, ...found] = await Promise.all([end(run_id), ...reads])
    for (const bill of found) t.deepEqual(bill, [[2000n], [2000n], [2000n]], run_id)
  }
})

test('a bill counts the later share of a period that began earlier', async t => {
  const { kysely: db, pool } = await database<UsageTables>(t, { schema: 'read' })
  await pool.query(`insert into usage_runs values ('run_1', 'a', 'a', $1, true)`, [metered(null)])
  const line = (nth: number, starts: string, ends: string, cost: number) =>
    pool.query(
      `insert into usage_lines values ('run_2', $1, 'a', 'a', 1, '2026-11-20', $2, $3, 1, '3.60', 0, $4)`,
      [nth, starts, ends, cost],
    )
  await line(0, '2026-11-20T08:00:00Z', '2026-11-20T10:00:00Z', 4_000_000)
  await line(1, '2026-11-20T06:00:00Z', '2026-11-20T08:00:00Z', 9_000_000)
  await line(2, '2026-11-20T09:30:00Z', '2026-11-20T09:30:00Z', 7)
  const since = new Date('2026-11-20T09:30:00Z')
  const costs = await readCostsSince(db, ['run_1', 'run_2', 'run_3'], { since, now })
  t.deepEqual([...costs].sort(), [
    ['run_1', 2000n],
    ['run_2', 1_000_000n],
  ])
})
