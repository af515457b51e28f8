import test from 'ava'
import { executorCommands } from '../../command-api/jobs/executor-commands.ts'
import { jobsWithExecutor } from './jobs-with-executor.ts'

test('each machine looks after its own attempts, whose GPUs are not those of another', async t => {
  const at = await jobsWithExecutor(t)
  const other = executorCommands(at.deps, { executor: 'local', engine: 'other' })
  const { run_id } = await at.submit()
  const { run_id: second } = await at.submit()
  t.is(await at.commands.schedule(run_id, [0]), 'scheduled')
  t.is(await other.schedule(second, [0]), 'scheduled')
  const idsOf = (attempts: readonly { run_id: string }[]) => attempts.map(one => one.run_id)
  t.deepEqual(idsOf(await at.commands.active()), [run_id])
  t.deepEqual(idsOf(await other.active()), [second])
  t.like((await other.active())[0], { gpu_indexes: [0] })
})

test('the attempts of a machine are lost once it was not heard of for ten minutes', async t => {
  const at = await jobsWithExecutor(t)
  const other = executorCommands(at.deps, { executor: 'local', engine: 'other' })
  const { run_id } = await at.submit()
  await at.commands.schedule(run_id, [0])
  const lost = async () => (await other.lostElsewhere()).map(attempt => attempt.run_id)
  t.deepEqual(await lost(), [])
  at.later(500)
  await at.commands.noteSeen()
  at.later(590)
  t.deepEqual(await lost(), [])
  at.later(20)
  t.deepEqual(await lost(), [run_id])
  await at.commands.noteSeen()
  t.deepEqual(await lost(), [])
})

test('an attempt of before machines were noted is looked after by whichever asks', async t => {
  const at = await jobsWithExecutor(t)
  const { run_id } = await at.submit()
  await at.commands.schedule(run_id, [0])
  await at.pool.query('update write.job_state set engine = null')
  t.like(await at.commands.active(), [{ run_id }])
  t.deepEqual(await at.commands.lostElsewhere(), [])
})
