import { ofRef } from '../attempts/attempt-ref.ts'
import { createDurably, readJson } from '../attempts/durable-json.ts'
import type { AttemptRef, Observed } from '../port.ts'
import { attemptExit } from './attempt-exit.ts'
import type { JobRecord, SlurmLaunchRecord } from './attempt-files.ts'
import { lastLines, type RankStates, readRanks } from './attempt-state.ts'
import type { SlurmContext } from './context.ts'
import type { SlurmJob } from './dialect.ts'
import { takeBack } from './hand-over.ts'
import { lookMs } from './job-looks.ts'
import { currentTurn, jobName } from './turns.ts'

/** Records the end of an attempt that no job can start any more. */
export async function conclude(
  context: SlurmContext,
  ref: AttemptRef,
  launch: SlurmLaunchRecord,
  turn: number,
): Promise<Observed> {
  const paths = context.paths(ref)
  const ranks = await readRanks(paths, launch.nodes, context.options.now())
  const known = (await readJson(paths.stop)) ? null : await readJson<JobRecord>(paths.job(turn))
  if (!known) return recordExit(context, ref, ranks, { job: null, stopped: true })
  const asked = { id: known.job_id, name: jobName(launch) }
  const job = await context.looks.of(asked, lookMs.running)
  return recordExit(context, ref, ranks, { job, stopped: false })
}

/** Records how the attempt ended, from the exits of its ranks and what Slurm says of its job. */
export async function recordExit(
  { attempts, looks, options, paths: pathsOf }: SlurmContext,
  ref: AttemptRef,
  ranks: RankStates,
  { job, stopped }: { job: SlurmJob | null; stopped: boolean },
): Promise<Observed> {
  const paths = pathsOf(ref)
  const exit = attemptExit({
    ranks: ranks.exits,
    started_at: ranks.started_at,
    job,
    stopped,
    printed: await lastLines(paths.log),
    now: options.now(),
  })
  const { number } = await currentTurn(paths)
  await takeBack(paths, ranks.exits.length, number)
  await createDurably(paths.exit, exit)
  const known = await readJson<JobRecord>(paths.job(number))
  if (known) looks.forget({ id: known.job_id, name: jobName(ofRef(ref)) })
  return attempts.observe(ref)
}
