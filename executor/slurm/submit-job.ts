import path from 'node:path'
import { toRef } from '../attempts/attempt-ref.ts'
import { giveUp } from '../attempts/claims.ts'
import { createDurably, writeDurably } from '../attempts/durable-json.ts'
import { identify } from '../attempts/process-identity.ts'
import type { AttemptRef, Launch } from '../port.ts'
import type { JobRecord, SlurmPaths, SubmitRecord } from './attempt-files.ts'
import type { SlurmContext } from './context.ts'
import { findJob } from './find-job.ts'
import { handOver } from './hand-over.ts'
import { jobScript } from './job-script.ts'
import { currentTurn, jobComment, jobName } from './turns.ts'

/** Submits a job for the attempt, unless it has one. */
export async function submitJob(
  context: SlurmContext,
  ref: AttemptRef,
  launch: Launch,
): Promise<void> {
  const paths = context.paths(ref)
  for (;;) {
    const { number, claim } = await currentTurn(paths)
    if (claim || (await findJob(context, ref, number)) !== null) return
    if (await begin(context, paths, number)) return post(context, launch, number)
    // An earlier submit of this turn may still reach Slurm; its job will find the turn taken.
    await giveUp(paths, 'interrupted')
  }
}

/** False if another call has begun this turn already. */
function begin({ options }: SlurmContext, paths: SlurmPaths, turn: number): Promise<boolean> {
  const record: SubmitRecord = {
    submitted_at: options.now().toISOString(),
    submitter: identify(process.pid),
  }
  return createDurably(paths.submit(turn), record)
}

async function post(
  { options, paths: pathsOf, gpus }: SlurmContext,
  launch: Launch,
  turn: number,
): Promise<void> {
  const { client, partition, account, hostEnvironment, runsDirectory } = options
  const { run_id, attempt, nodes, gpu_indexes, fencing_token } = launch
  const paths = pathsOf(toRef(run_id, attempt))
  const gpus_per_node = gpu_indexes.length / nodes
  const gpu_type = gpus_per_node > 0 ? (await gpus()).type : ''
  await handOver(launch, paths, turn, hostEnvironment)
  const job_id = await client.submit({
    name: jobName(launch),
    comment: jobComment(turn, fencing_token),
    script: jobScript(paths.directory, turn, nodes),
    directory: paths.directory,
    output: paths.log,
    ...{ nodes, gpus_per_node, gpu_type, partition, account },
    environment: {
      PATH: hostEnvironment.PATH ?? '/usr/local/bin:/usr/bin:/bin',
      NODE_COMPILE_CACHE: path.join(runsDirectory, '.code-cache'),
    },
  })
  await writeDurably(paths.job(turn), { job_id } satisfies JobRecord)
}
