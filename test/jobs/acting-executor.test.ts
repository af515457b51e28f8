import test, { type ExecutionContext } from 'ava'
import { pause, resume } from '../../command-api/jobs/decide.ts'
import { reportJob } from '../../command-api/jobs/report.ts'
import { keepUses, registered } from '../command-api/uses.ts'
import { endedWell } from '../servers/as-executor.ts'
import { type JobsWithExecutor, jobsWithExecutor } from './jobs-with-executor.ts'

// One test at a time, because each starts processes, which soon overload a small machine.

const asked = (at: JobsWithExecutor, more: { graceSeconds?: number; force?: boolean } = {}) => ({
  message: null,
  graceSeconds: null,
  force: false,
  now: at.now(),
  ...more,
})

/** A run that receives the request to end but continues; it has reported that it runs. */
async function startStubborn(t: ExecutionContext) {
  const at = await jobsWithExecutor(t, {
    script: "trap 'echo asked' TERM; while :; do sleep 0.1; done",
  })
  at.reconcile()
  const { run_id } = await at.submit()
  await at.untilState(run_id, 'starting')
  await reportRunning(at, run_id)
  return { at, run_id }
}

async function reportRunning(at: JobsWithExecutor, run_id: string): Promise<void> {
  const actor = { type: 'run', id: run_id, via: 'test' } as const
  const asCode = { actor, requestId: 'test' }
  await reportJob(at.deps)({ run_id, event: 'running' }, null, asCode)
}

test.serial('a pause kills processes that outlive its deadline, and frees its GPUs', async t => {
  const { at, run_id } = await startStubborn(t)
  await at.change(run_id, job => pause(job, asked(at, { graceSeconds: 1 })))
  await at.untilState(run_id, 'paused')
  const exited = (await at.eventsOf(run_id)).find(event => event.type === 'job.exited')
  t.like(exited, { data: { signal: 'SIGKILL' } })
  const { rows } = await at.pool.query(
    `select (select count(*)::int from write.gpu_slot) as slots,
            (select coalesce(sum(held_gpus), 0)::int from write.quota) as gpus`,
  )
  t.deepEqual(rows, [{ slots: 0, gpus: 0 }])
})

test.serial('code that receives the request is left alone for most of the grace', async t => {
  const { at, run_id } = await startStubborn(t)
  await at.change(run_id, job => pause(job, asked(at, { graceSeconds: 600 })))
  const stopAt = async () =>
    (await at.pool.query('select stop_at, stop_grace_s from write.job_state')).rows[0]
  const { stop_at, stop_grace_s } = await stopAt()
  t.is(stop_grace_s, 30)
  t.true(stop_at.getTime() - at.now().getTime() > 500_000)
  await at.change(run_id, job => pause(job, asked(at, { force: true })))
  await at.untilState(run_id, 'paused')
})

test.serial(
  'an attempt after a pause gets the newest checkpoint, if its spec requests it',
  async t => {
    const at = await jobsWithExecutor(t, { script: 'sleep 60' })
    const resumed = async (retry: object) => {
      const { run_id } = await at.submit({ retry })
      await at.commands.schedule(run_id, [])
      await at.change(run_id, job => pause(job, asked(at, { force: true })))
      await at.commands.exited(run_id, 1, endedWell())
      for (const step of [100, 300, 200]) {
        await keepUses(at.pool, [registered(`art_${run_id}_${step}`, run_id)])
        await at.pool.query(
          `insert into write.artifact (artifact_id, run_id, kind, path, step, format)
         values ($1, $2, 'checkpoint', $3, $4, 'npz')`,
          [`art_${run_id}_${step}`, run_id, `/model-${step}.npz`, step],
        )
      }
      await at.change(run_id, job => resume(job, null))
      await at.commands.schedule(run_id, [])
      return at.commands.launch(run_id, 2)
    }
    t.is((await resumed({})).resume_from, '/model-300.npz')
    t.is((await resumed({ resume: 'none' })).resume_from, null)
  },
)

test.serial('a job is stopped when its GPUs have used up its max_cost', async t => {
  const at = await jobsWithExecutor(t, { script: 'sleep 60' })
  await at.pool.query(`update write.profile set price_per_gpu_hour = 3600`)
  at.reconcile()
  const { run_id } = await at.submit({ limits: { max_cost: '1.50', stop_grace_s: 1 } })
  await at.untilState(run_id, 'starting')
  await reportRunning(at, run_id)
  await at.untilState(run_id, 'stopped')
  const events = await at.eventsOf(run_id)
  t.like(events.at(-1), { data: { reason: 'limit', message: 'max_cost (1.50) is reached' } })
  const started = events.find(event => event.type === 'job.running')?.data.started_at
  const { rows } = await at.pool.query(
    `select occurred_at from write.event where stream = $1 and type = 'job.stop_requested'`,
    [`job-${run_id}`],
  )
  t.true(rows[0].occurred_at.getTime() - Date.parse(String(started)) >= 1500, 'no earlier')
})
