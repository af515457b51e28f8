import test from 'ava'
import { pino } from 'pino'
import { runFilesReactor } from '../../command-api/jobs/run-files.ts'
import type { DecisionEvent } from '../../events/all.ts'
import type { Recorded } from '../../events/event.ts'
import type { JobEvent } from '../../events/jobs.ts'
import { until } from '../servers/until.ts'
import { type JobsWithExecutor, jobsWithExecutor } from './jobs-with-executor.ts'

const endedAt = '2026-11-20T12:00:00.000Z'
const dueOf = (days: number, event: JobEvent) =>
  runFilesReactor(days).dutiesOf({ ...event, occurred_at: endedAt } as Recorded<DecisionEvent>)

/** Performs a due duty as the executor's process does. */
const perform = (at: JobsWithExecutor, run_id: string) =>
  runFilesReactor(7).perform(
    { duty_id: 'd', payload: { run_id }, attempt: 1, due_at: at.now() },
    { pool: at.pool, files: at.executor, logger: pino({ level: 'silent' }) },
    new AbortController().signal,
  )

const isThere = async (at: JobsWithExecutor, run_id: string) =>
  (await at.executor.find(run_id, 1)) !== null

async function failed(
  at: JobsWithExecutor,
): Promise<{ run_id: string; events: readonly JobEvent[] }> {
  const { run_id } = await at.submit()
  await at.untilState(run_id, 'failed')
  return { run_id, events: await at.eventsOf(run_id) }
}

const register = (at: JobsWithExecutor, run_id: string, path: string) =>
  at.pool.query(
    `insert into write.artifact (artifact_id, run_id, kind, path, step, format)
     values ($1, $2, 'checkpoint', $3, 1, 'f')`,
    [`art-${path}`, run_id, path],
  )

test.serial(
  'the files of a run are deleted some days after its end, and a repeat does nothing',
  async t => {
    const at = await jobsWithExecutor(t, { script: 'exit 3' })
    at.reconcile()
    const { run_id, events } = await failed(at)
    const due = [{ payload: { run_id }, due_at: new Date('2026-11-27T12:00:00.000Z') }]
    const dutiful = events.filter(event => dueOf(7, event).length > 0)
    t.deepEqual(
      dutiful.map(event => event.type),
      ['job.exited', 'job.failed'],
    )
    for (const event of dutiful) {
      t.deepEqual(dueOf(7, event), due)
      t.deepEqual(dueOf(0, event), [])
    }
    t.true(await isThere(at, run_id))
    await perform(at, run_id)
    t.false(await isThere(at, run_id))
    await perform(at, run_id)
    await perform(at, 'run_unknown')
  },
)

test.serial('the files of a run stay if they include an artifact of any run', async t => {
  const at = await jobsWithExecutor(t, { script: 'exit 3' })
  at.reconcile()
  const { run_id: own } = await failed(at)
  await register(at, own, 'checkpoints/1')
  await perform(at, own)
  t.true(await isThere(at, own))
  const { run_id: free } = await failed(at)
  await register(at, free, `s3://bucket/${free}/1`)
  await register(at, own, `/mnt/${free}/1`)
  await perform(at, free)
  t.false(await isThere(at, free))
})

test.serial('the files of a run that has not ended stay', async t => {
  const at = await jobsWithExecutor(t, { script: 'sleep 60' })
  at.reconcile()
  const { run_id } = await at.submit()
  await until('it runs', 60_000, () => isThere(at, run_id))
  await perform(at, run_id)
  t.true(await isThere(at, run_id))
})
