import test, { type ExecutionContext } from 'ava'
import { type Observed, saveObserved } from '../../command-api/alerts/rows.ts'
import { runDueTimers } from '../../command-api/alerts/timers.ts'
import { inTransaction } from '../../platform/postgres/transaction.ts'
import { silent } from '../command-api/duty-store.ts'
import { eventStoreOn } from '../servers/event-store.ts'
import { database } from '../servers/postgres.ts'

const start = Date.parse('2026-11-20T12:00:00Z')
const at = (minutes: number) => start + minutes * 60_000

/** Two runs without jobs, and timers whose clock the test moves. */
async function stage(t: ExecutionContext) {
  const { pool } = await database(t)
  const store = eventStoreOn(pool)
  await pool.query(
    `insert into write.run_state (run_id, short_id, owner, project, source)
     values ('run_1', 'demo-1', 'ada', 'demo', 'external'), ('run_2', 'demo-2', 'ada', 'demo', 'external')`,
  )
  let number = 0
  return {
    pool,
    observe: (...observed: Observed[]) => inTransaction(pool, tx => saveObserved(tx, observed)),
    pass: (minutes: number) => {
      const now = () => new Date(at(minutes))
      const deps = { pool, store, now, logger: silent, newId: () => `alr_${++number}` }
      return runDueTimers(deps, {
        heardSince: new Date(0),
        failed: error => t.fail(String(error)),
      })
    },
    async happened() {
      const { rows } = await pool.query(
        `select type, data from write.event where type like 'alert.%' order by position`,
      )
      return rows.map(({ type, data }) => [type, data.run_id, data.rule, data.reason ?? data.title])
    },
  }
}

const sampled = (run_id: string, seen: number, fine: number | null): Observed => ({
  ...{ run_id, rule: 'gpu_idle', attempt: 0, for_s: 1800 },
  ...{ since: at(0), seen_at: at(seen), fine_at: fine === null ? null : at(fine) },
})
const reported = (run_id: string, minutes: number): Observed => ({
  ...{ run_id, rule: 'no_progress', attempt: 0, for_s: 1800 },
  ...{ since: at(minutes), seen_at: at(minutes), fine_at: at(minutes) },
})

test('idle GPUs fire once and are resolved once, however often the timers run', async t => {
  const { observe, pass, happened } = await stage(t)
  await observe(sampled('run_1', 40, null), sampled('run_2', 40, 39))
  for (const minutes of [40, 40, 41]) await pass(minutes)
  t.deepEqual(await happened(), [
    ['alert.fired', 'run_1', 'gpu_idle', 'All GPUs below 10 % for 30 minutes'],
  ])
  await observe(sampled('run_1', 45, 45))
  for (const minutes of [45, 46]) await pass(minutes)
  t.deepEqual((await happened()).slice(1), [['alert.resolved', 'run_1', 'gpu_idle', 'recovered']])
})

test('late or repeated observations do not override newer ones', async t => {
  const { observe, pool } = await stage(t)
  const newer = { ...sampled('run_1', 50, 45), attempt: 2 }
  await observe(newer)
  await observe(newer)
  await observe({ ...sampled('run_1', 70, 70), attempt: 1 })
  await observe({ ...sampled('run_1', 49, 20), attempt: 2 })
  const { rows } = await pool.query('select attempt, seen_at, fine_at from write.alert_watch')
  t.deepEqual(rows, [{ attempt: 2, seen_at: new Date(at(50)), fine_at: new Date(at(45)) }])
})

test('silence fires after its time limit, and the next report resolves it', async t => {
  const { observe, pass, happened } = await stage(t)
  await observe(reported('run_1', 0), reported('run_2', 20))
  for (const minutes of [29, 31, 32]) await pass(minutes)
  t.deepEqual(await happened(), [
    ['alert.fired', 'run_1', 'no_progress', 'No metrics for 30 minutes'],
  ])
  await observe(reported('run_1', 33))
  await pass(33)
  t.deepEqual((await happened()).slice(1), [
    ['alert.resolved', 'run_1', 'no_progress', 'recovered'],
  ])
})

test('the end of a run closes its alerts and stops watching it', async t => {
  const { observe, pass, happened, pool } = await stage(t)
  await observe(reported('run_1', 0))
  await pass(31)
  await pool.query(`update write.run_state set ended_at = $1 where run_id = 'run_1'`, [
    new Date(at(32)),
  ])
  for (const minutes of [32, 33]) await pass(minutes)
  t.deepEqual((await happened()).slice(1), [
    ['alert.resolved', 'run_1', 'no_progress', 'run_ended'],
  ])
  await observe(reported('run_1', 34))
  const { rows } = await pool.query(
    'select * from write.alert_watch union all select null, null, null, null, null, null, null from write.alert_open',
  )
  t.deepEqual(rows, [])
})
