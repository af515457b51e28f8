import type { ExitRecord } from '../attempts/attempt-directory.ts'
import { giveUp } from '../attempts/claims.ts'
import { readJson, writeDurably } from '../attempts/durable-json.ts'
import { exitedAs } from '../attempts/exited-as.ts'
import type { AttemptRef, Observed } from '../port.ts'
import { isExplained } from './attempt-exit.ts'
import { atOnce, type SlurmLaunchRecord, type SubmitRecord } from './attempt-files.ts'
import { readRanks } from './attempt-state.ts'
import { conclude, recordExit } from './conclude-attempt.ts'
import type { SlurmContext } from './context.ts'
import { isOver, type SlurmJob } from './dialect.ts'
import { findJob } from './find-job.ts'
import { type Identity, lookMs } from './job-looks.ts'
import { SlurmFault } from './rest.ts'
import { currentTurn, isCutShort, isRepeated, jobName } from './turns.ts'

export async function observeAttempt(
  context: SlurmContext,
  ref: AttemptRef,
  launch: SlurmLaunchRecord,
): Promise<Observed> {
  const paths = context.paths(ref)
  const exit = await readJson<ExitRecord>(paths.exit)
  if (exit) return exitedAs(exit)
  const { number, claim } = await currentTurn(paths)
  if (!claim) return observeUnclaimed(context, ref, launch, number)
  if (claim.job === null) return conclude(context, ref, launch, number)
  return observeClaimed(context, ref, launch, Number.parseInt(claim.job, 10))
}

/** No rank has started. */
async function observeUnclaimed(
  context: SlurmContext,
  ref: AttemptRef,
  launch: SlurmLaunchRecord,
  turn: number,
): Promise<Observed> {
  const { attempts, looks, options } = context
  const paths = context.paths(ref)
  if (attempts.isSubmitting(ref)) return { state: 'starting' }
  const submitted = await readJson<SubmitRecord>(paths.submit(turn))
  if (!submitted) return { state: 'unknown' }
  const id = await findJob(context, ref, turn)
  if (id === null) {
    if (!isCutShort(submitted, options.now().getTime())) return { state: 'starting' }
    await giveUp(paths, 'interrupted')
    return attempts.observe(ref)
  }
  const asked = { id, name: jobName(launch) }
  const job = await looks.of(asked, lookMs.waiting)
  if (!hasSettled(context, asked, job)) return { state: 'starting' }
  if (isRepeated(job, turn) && !(await readJson(paths.stop))) {
    // It counts as never submitted.
    await giveUp(paths, 'interrupted')
    looks.forget(asked)
    return attempts.observe(ref)
  }
  // So that no job of the attempt starts after its end is recorded.
  await giveUp(paths, 'stopped')
  const { claim } = await currentTurn(paths)
  return claim?.job === null ? conclude(context, ref, launch, turn) : attempts.observe(ref)
}

/** A job has the attempt. */
async function observeClaimed(
  context: SlurmContext,
  ref: AttemptRef,
  launch: SlurmLaunchRecord,
  id: number,
): Promise<Observed> {
  const paths = context.paths(ref)
  const ranks = await readRanks(paths, launch.nodes, context.options.now())
  const running: Observed =
    ranks.started_at === null
      ? { state: 'starting' }
      : { state: 'running', started_at: ranks.started_at }
  const ended = ranks.exits.every(exit => exit !== null)
  const stopped = (await readJson(paths.stop)) !== null
  if (ended && isExplained(ranks, stopped))
    return recordExit(context, ref, ranks, { job: null, stopped })
  const asked = { id, name: jobName(launch) }
  let job: SlurmJob | null
  try {
    job = await context.looks.of(
      asked,
      ranks.started_at === null || ended ? lookMs.waiting : lookMs.running,
    )
  } catch (error) {
    // The records of its supervisors are enough.
    if (error instanceof SlurmFault && !ended && ranks.started_at !== null) return running
    throw error
  }
  if (!hasSettled(context, asked, job)) return running
  if (ranks.alive.length === 0) return recordExit(context, ref, ranks, { job, stopped })
  // Slurm ended the job, but not these: they end themselves and leave their records. It does not stop the attempt, which
  // would hide why it ended.
  for (const rank of ranks.alive) await writeDurably(paths.node(rank).stop, atOnce)
  return running
}

/** Whether Slurm has said for long enough that a job is over. */
function hasSettled(
  { looks, options }: SlurmContext,
  asked: Identity,
  job: SlurmJob | null,
): boolean {
  if (job !== null && !isOver(job)) return false
  return looks.overForMs(asked) >= (options.settleMs ?? 10_000)
}
