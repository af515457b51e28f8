import test from 'ava'
import { queue } from '../../command-api/jobs/decide.ts'
import { withWaitReasons } from '../../query-api/jobs/wait-reasons.ts'
import { jobsWithExecutor } from './jobs-with-executor.ts'

test('why a job waits changes without an event, survives other commits, and is shown', async t => {
  const at = await jobsWithExecutor(t)
  const { run_id } = await at.submit()
  const shown = async () => {
    const row = { run_id, state: 'queued' as const, state_reason: 'waiting_capacity' }
    return (await withWaitReasons(at.pool, [row]))[0]?.state_reason
  }
  t.is(await shown(), 'waiting_capacity')
  const before = await at.eventsOf(run_id)
  await at.commands.recordWaitReasons([{ run_id, reason: 'behind_priority' }])
  t.is(await shown(), 'behind_priority')
  await at.change(run_id, job => queue(job, 'waiting_capacity'))
  t.is(await shown(), 'behind_priority')
  t.deepEqual(await at.eventsOf(run_id), before)
})

test('a job that has left the queue shows the state in the read models, as does one that is not queued there', async t => {
  const at = await jobsWithExecutor(t)
  const { run_id } = await at.submit()
  await at.commands.recordWaitReasons([{ run_id, reason: 'behind_priority' }])
  const rows = [
    { run_id, state: 'running', state_reason: null },
    { run_id: 'run_unknown', state: 'queued', state_reason: 'waiting_capacity' },
  ] as const
  t.deepEqual(await withWaitReasons(at.pool, rows), [...rows])
  await at.commands.schedule(run_id, [0])
  await at.commands.recordWaitReasons([{ run_id, reason: 'quota_in_use' }])
  const late = { run_id, state: 'queued', state_reason: 'waiting_capacity' } as const
  t.deepEqual(await withWaitReasons(at.pool, [late]), [late])
})
