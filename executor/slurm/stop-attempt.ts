import type { StopRecord } from '../attempts/attempt-directory.ts'
import { giveUp } from '../attempts/claims.ts'
import { readJson, writeDurably } from '../attempts/durable-json.ts'
import type { AttemptRef } from '../port.ts'
import type { JobRecord, SlurmLaunchRecord, SlurmPaths, SlurmStopRecord } from './attempt-files.ts'
import type { SlurmContext } from './context.ts'
import { isOver } from './dialect.ts'
import { SlurmFault } from './rest.ts'
import { currentTurn, jobName } from './turns.ts'

/** How long after the end of its grace a stop asks Slurm to kill ranks that have not ended. */
const overdueMs = 30_000

/** Records the stop for every rank, and takes a job that has not started out of Slurm's queue. */
export async function stopAttempt(
  context: SlurmContext,
  ref: AttemptRef,
  launch: SlurmLaunchRecord,
  { grace_s, force }: StopRecord,
): Promise<void> {
  const paths = context.paths(ref)
  const nowMs = context.options.now().getTime()
  const before = await readJson<SlurmStopRecord>(paths.stop)
  const killBy = new Date(nowMs + (force ? 0 : grace_s * 1000)).toISOString()
  const wanted: SlurmStopRecord = {
    grace_s: Math.min(grace_s, before?.grace_s ?? grace_s),
    force: force || (before?.force ?? false),
    kill_by: before && before.kill_by < killBy ? before.kill_by : killBy,
  }
  if (before?.grace_s !== wanted.grace_s || before.force !== wanted.force) {
    for (let rank = 0; rank < launch.nodes; rank++)
      await writeDurably(paths.node(rank).stop, { grace_s: wanted.grace_s, force: wanted.force })
    await writeDurably(paths.stop, wanted)
  }
  await giveUp(paths, 'stopped')
  await cancelJob(context, paths, launch, wanted)
}

/** Takes a job that may no longer start out of Slurm's queue, or kills a job that has outlived its grace. */
async function cancelJob(
  { looks, options }: SlurmContext,
  paths: SlurmPaths,
  launch: SlurmLaunchRecord,
  { kill_by }: SlurmStopRecord,
): Promise<void> {
  const { number, claim } = await currentTurn(paths)
  const overdue = options.now().getTime() > Date.parse(kill_by) + overdueMs
  if (claim?.job !== null && !overdue) return
  const known = await readJson<JobRecord>(paths.job(number))
  if (!known) return
  // If Slurm does not respond, the job stays in the queue and ends as soon as it starts, because its turn is taken.
  try {
    const job = await looks.of({ id: known.job_id, name: jobName(launch) }, 0)
    // Slurm may have given the number of an ended job to another one.
    if (job && !isOver(job)) await options.client.cancel(known.job_id)
  } catch (error) {
    if (!(error instanceof SlurmFault)) throw error
  }
}
