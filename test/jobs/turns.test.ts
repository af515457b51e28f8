import test from 'ava'
import { pause, resume } from '../../command-api/jobs/decide.ts'
import { runDueTimers } from '../../command-api/jobs/timers.ts'
import { type JobsWithExecutor, jobsWithExecutor } from './jobs-with-executor.ts'
import { told } from './told.ts'
import { makeUnreadable } from './unreadable.ts'

// One test at a time, because each starts processes, which soon overload a small machine.
const reasonOf = async ({ pool }: JobsWithExecutor, run_id: string) => {
  const { rows } = await pool.query('select queue_reason from write.job_state where run_id = $1', [
    run_id,
  ])
  return rows[0]?.queue_reason
}

test.serial("a job that its owner's quota keeps waiting does not keep others waiting", async t => {
  const at = await jobsWithExecutor(t, { gpus: 4, script: told(t).wait })
  await at.pool.query(`insert into write.quota (username, max_concurrent_gpus) values ('ada', 2)`)
  const first = await at.submit({ resources: { gpus_per_node: 2 } })
  const second = await at.submit({ resources: { gpus_per_node: 2 } })
  const other = await at.submit({ resources: { gpus_per_node: 2 } }, { username: 'bob' })
  at.reconcile()
  await at.untilState(first.run_id, 'starting')
  await at.untilState(other.run_id, 'starting')
  await runDueTimers(at.deps)
  t.is(await at.stateOf(second.run_id), 'queued')
  t.is(await reasonOf(at, second.run_id), 'quota_in_use')
  const events = await at.eventsOf(second.run_id)
  t.deepEqual(
    events.map(({ type }) => type),
    ['job.admitted', 'job.queued'],
  )
})

test.serial(
  'a job whose owner has used up the hours of the day does not keep others waiting',
  async t => {
    const at = await jobsWithExecutor(t, { gpus: 2, script: told(t).wait })
    await at.pool.query(
      `insert into write.quota (username, daily_gpu_hours, priority) values ('ada', 1, 1)`,
    )
    // Still running, so that midnight changes nothing.
    await at.pool.query(
      `insert into write.gpu_use (run_id, attempt, username, series, gpus, started_at)
       values ('run_0', 1, 'ada', 'local', 1000000, now() - interval '1 day')`,
    )
    const first = await at.submit({ resources: { gpus_per_node: 2 } })
    const other = await at.submit({ resources: { gpus_per_node: 2 } }, { username: 'bob' })
    at.reconcile()
    await at.untilState(other.run_id, 'starting')
    await runDueTimers(at.deps)
    t.is(await at.stateOf(first.run_id), 'queued')
    t.is(await reasonOf(at, first.run_id), 'quota_in_use')
  },
)

test.serial('a job that cannot be scheduled does not keep others waiting', async t => {
  const at = await jobsWithExecutor(t, { gpus: 2, script: told(t).wait })
  const broken = await at.submit({ resources: { gpus_per_node: 2 } })
  const other = await at.submit({ resources: { gpus_per_node: 2 } }, { username: 'bob' })
  await makeUnreadable(at, broken.run_id)
  at.reconcile()
  await at.untilState(other.run_id, 'starting')
  t.is(await at.stateOf(broken.run_id), 'queued')
})

test.serial('time before a job waits again does not count as waiting', async t => {
  const at = await jobsWithExecutor(t)
  const submitted = {
    limits: { max_pending_s: 60 },
    retry: { max_attempts: 2, backoff_s: 90 },
  }
  const lost = await at.submit(submitted)
  const paused = await at.submit(submitted)
  for (const [index, { run_id }] of [lost, paused].entries())
    t.is(await at.commands.schedule(run_id, [index]), 'scheduled')
  await at.change(paused.run_id, job =>
    pause(job, { message: null, graceSeconds: null, force: false, now: at.now() }),
  )
  at.later(3600)
  const exitOf = (signal: string | null) => {
    const ended_at = at.now().toISOString()
    const exit = { exit_code: null, signal, oom_killed: false, launch_error: null, ended_at }
    return { started_at: ended_at, exit }
  }
  await at.commands.exited(lost.run_id, 1, exitOf(null))
  await at.commands.exited(paused.run_id, 1, exitOf('SIGTERM'))
  t.is(await at.stateOf(paused.run_id), 'paused')
  const pass = (seconds: number) => {
    at.later(seconds)
    return runDueTimers(at.deps)
  }
  // Its next attempt is due after 90 s.
  await pass(149)
  t.is(await at.stateOf(lost.run_id), 'queued')
  await pass(2)
  t.is(await at.stateOf(lost.run_id), 'failed')
  await at.change(paused.run_id, job => resume(job, null))
  await runDueTimers(at.deps)
  t.is(await at.stateOf(paused.run_id), 'queued')
  await pass(59)
  t.is(await at.stateOf(paused.run_id), 'queued')
  await pass(2)
  t.is(await at.stateOf(paused.run_id), 'failed')
})
