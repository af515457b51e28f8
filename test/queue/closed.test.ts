import test from 'ava'
import { executorCommands } from '../../command-api/jobs/executor-commands.ts'
import { runDueTimers } from '../../command-api/jobs/timers.ts'
import { startWaiting } from '../../executor/start-waiting.ts'
import { type JobsWithExecutor, jobsWithExecutor } from '../jobs/jobs-with-executor.ts'
import { countedPool } from '../servers/counted-pool.ts'
import { mayStayIdle, untilLockWaits } from '../servers/lock-waits.ts'
import { until } from '../servers/until.ts'

/** Acts like the routes for administrators. */
const close = {
  pause: 'update write.queue_switch set paused = true',
  resume: 'update write.queue_switch set paused = false',
  drain: `insert into write.drain values ('local', 'fans', now(), 'root')`,
  undrain: 'delete from write.drain',
} as const

async function reasonOf({ pool }: JobsWithExecutor, run_id: string): Promise<string | null> {
  const { rows } = await pool.query('select queue_reason from write.job_state where run_id = $1', [
    run_id,
  ])
  return rows[0]?.queue_reason ?? null
}

for (const [shut, open, reason] of [
  ['pause', 'resume', 'queue_paused'],
  ['drain', 'undrain', 'draining'],
] as const)
  test(`after a ${shut} running jobs continue, nothing starts, and jobs say why, until a ${open}`, async t => {
    const at = await jobsWithExecutor(t, { script: 'until [ -e go ]; do sleep 0.1; done; exit 3' })
    const first = await at.submit()
    const reconciler = at.reconcile()
    await at.untilState(first.run_id, 'starting')
    await at.pool.query(close[shut])
    const second = await at.submit()
    reconciler.wake()
    await until('it says why', 60_000, async () => (await reasonOf(at, second.run_id)) === reason)
    await runDueTimers(at.deps)
    t.is(await reasonOf(at, second.run_id), reason)
    t.is(await at.stateOf(first.run_id), 'starting')
    t.is(await at.commands.schedule(second.run_id, [1]), reason, 'whatever selected it')
    await at.pool.query(close[open])
    await at.untilState(second.run_id, 'starting')
    t.is(await at.stateOf(first.run_id), 'starting')
  })

test('a pause waits for a start that has begun, and nothing starts after it', async t => {
  const at = await jobsWithExecutor(t)
  const { run_id } = await at.submit()
  const starting = await at.pool.connect()
  try {
    await starting.query('begin')
    await mayStayIdle(starting)
    await starting.query('select 1 from write.queue_switch for share')
    const pausing = at.pool.query(close.pause)
    await untilLockWaits(at.pool, 'the pause waits')
    await starting.query('commit')
    await pausing
  } finally {
    starting.release()
  }
  t.is(await at.commands.schedule(run_id, [0]), 'queue_paused')
  t.is(await at.stateOf(run_id), 'queued')
})

test('a job waiting for its owner’s quota says so again after a pause', async t => {
  const at = await jobsWithExecutor(t)
  await at.pool.query(`insert into write.quota (username, max_concurrent_gpus) values ('ada', 1)`)
  const first = await at.submit()
  t.is(await at.commands.schedule(first.run_id, [0]), 'scheduled')
  const second = await at.submit()
  await at.pool.query(close.pause)
  await at.commands.recordWaitReasonOfAll('queue_paused')
  await runDueTimers(at.deps)
  t.is(await reasonOf(at, second.run_id), 'queue_paused')
  await at.pool.query(close.resume)
  await runDueTimers(at.deps)
  t.is(await reasonOf(at, second.run_id), 'quota_in_use')
})

test('while no job is queued, a pass of the executor asks the database one question', async t => {
  const at = await jobsWithExecutor(t)
  const { counted, queries } = countedPool(at.pool)
  const commands = executorCommands(
    { ...at.deps, pool: counted },
    { executor: 'local', engine: 'test' },
  )
  const pass = () => startWaiting({ commands, executor: at.executor, logger: at.deps.logger })
  t.false(await pass())
  t.is(queries(), 1)
  const { run_id } = await at.submit()
  t.true(await pass())
  t.not(await at.stateOf(run_id), 'queued')
})
