import test from 'ava'
import { executorCommands } from '../../command-api/jobs/executor-commands.ts'
import { until } from '../servers/until.ts'
import { jobsWithExecutor } from './jobs-with-executor.ts'

const silentMs = 600_000

test('each machine supervises its own attempts, on its own GPUs', async t => {
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

test('the attempts of a machine are lost after ten minutes of silence', async t => {
  const at = await jobsWithExecutor(t)
  const other = executorCommands(at.deps, { executor: 'local', engine: 'other' })
  const { run_id } = await at.submit()
  await at.commands.schedule(run_id, [0])
  const lost = async () => (await other.lostElsewhere(silentMs)).map(attempt => attempt.run_id)
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

test('where a machine keeps its runs is noted at once when it changes', async t => {
  const at = await jobsWithExecutor(t)
  const host = { executor: 'local', engine: 'other' }
  const noted = async () => {
    const { rows } = await at.pool.query("select write.runs_directory_of('other') as place")
    return rows[0].place
  }
  for (const runsDirectory of ['/data/runs', '/srv/runs', null]) {
    await executorCommands(at.deps, { ...host, runsDirectory }).noteSeen()
    t.is(await noted(), runsDirectory)
  }
})

test('times noted by a fast clock are void once the clock is corrected', async t => {
  const at = await jobsWithExecutor(t)
  const other = executorCommands(at.deps, { executor: 'local', engine: 'other' })
  const { run_id } = await at.submit()
  await at.commands.schedule(run_id, [0])
  const daySeconds = 86_400
  at.later(daySeconds)
  await at.commands.noteSeen()
  at.later(-daySeconds)
  await at.commands.noteSeen()
  at.later(610)
  t.deepEqual(
    (await other.lostElsewhere(silentMs)).map(attempt => attempt.run_id),
    [run_id],
  )
})

test('a returning machine ends attempts that were given up meanwhile, but none that it merely may not know', async t => {
  const at = await jobsWithExecutor(t, { script: 'sleep 300' })
  const first = at.reconcile()
  const lost = await at.submit()
  const unknown = await at.submit()
  const refOf = async (run_id: string) =>
    String(await until('it was started', 30_000, () => at.executor.find(run_id, 1)))
  const refs = [await refOf(lost.run_id), await refOf(unknown.run_id)]
  await first.stop()
  const ended_at = at.now().toISOString()
  const exit = { exit_code: null, signal: null, oom_killed: false, launch_error: null, ended_at }
  await at.commands.exited(lost.run_id, 1, { started_at: ended_at, exit })
  // As in a database restored from an earlier backup.
  await at.pool.query(
    'update write.job_state set attempt = 0, is_active = false where run_id = $1',
    [unknown.run_id],
  )
  at.reconcile()
  const stateOf = async (ref = '') => (await at.executor.observe(ref)).state
  await until('nothing of it runs', 30_000, async () => (await stateOf(refs[0])) === 'exited')
  t.not(await stateOf(refs[1]), 'exited')
  await at.executor.stop(String(refs[1]), { grace_s: 0, force: true })
  await until('nor of the other', 30_000, async () => (await stateOf(refs[1])) === 'exited')
})

test('an attempt without a recorded machine is claimed by the machine that knows it, or else given up', async t => {
  const at = await jobsWithExecutor(t, { script: 'sleep 300' })
  const engineOf = async (run_id: string) => {
    const { rows } = await at.pool.query('select engine from write.job_state where run_id = $1', [
      run_id,
    ])
    return rows[0]?.engine
  }
  const { run_id } = await at.submit()
  const first = at.reconcile()
  await until('it was started', 30_000, () => at.executor.find(run_id, 1))
  await first.stop()
  const { run_id: unknown } = await at.submit()
  await at.commands.schedule(unknown, [3])
  await at.pool.query('update write.job_state set engine = null')
  const second = at.reconcile()
  await until('it is claimed', 20_000, async () => (await engineOf(run_id)) === 'test')
  await second.stop()
  t.is(await engineOf(unknown), null)
  t.is(await at.executor.find(unknown, 1), null, 'it was not started a second time')
  t.like(await at.commands.active(), { length: 2 })
  t.deepEqual(await at.commands.lostElsewhere(silentMs), [])
  at.later(610)
  await at.commands.noteSeen()
  const lost = await at.commands.lostElsewhere(silentMs)
  t.deepEqual(
    lost.map(attempt => attempt.run_id),
    [unknown],
  )
})
