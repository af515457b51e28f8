import path from 'node:path'
import { openAttempts } from '../attempts/attempts-executor.ts'
import { readJson } from '../attempts/durable-json.ts'
import type { Executor } from '../port.ts'
import { type NodeRecord, type SlurmLaunchRecord, slurmPaths } from './attempt-files.ts'
import { type ClusterGpus, cachedGpus } from './cluster-gpus.ts'
import type { SlurmContext } from './context.ts'
import { JobLooks } from './job-looks.ts'
import { observeAttempt } from './observe-attempt.ts'
import type { SlurmExecutorOptions } from './options.ts'
import { prepareSlurmAttempt } from './prepare-attempt.ts'
import { stopAttempt } from './stop-attempt.ts'
import { submitJob } from './submit-job.ts'

/** `gpus` counts the GPUs that jobs can get, for the description of the cluster. */
export type SlurmExecutor = { executor: Executor; gpus(): Promise<ClusterGpus> }

/** How long to wait for an older attempt of the run to end. */
const supersedeMs = 60_000

/**
 * Runs attempts as batch jobs of a Slurm cluster. On each node a supervisor works in a folder that all share, so what
 * happens there is known without Slurm, which is asked only about jobs that have not started or have vanished.
 */
export async function openSlurmExecutor(options: SlurmExecutorOptions): Promise<SlurmExecutor> {
  const gpus = cachedGpus(options)
  const executor = await openAttempts<SlurmLaunchRecord>({ ...options, supersedeMs }, attempts => {
    const paths: SlurmContext['paths'] = ref => slurmPaths(path.join(options.runsDirectory, ref))
    const context = { options, attempts, paths, gpus, looks: new JobLooks(options.client) }
    return {
      paths,
      prepare: submission => prepareSlurmAttempt(options.runsDirectory, submission, options.now()),
      start: ({ ref, launch }) => submitJob(context, ref, launch),
      observe: (ref, recorded) => observeAttempt(context, ref, recorded),
      stop: (ref, recorded, how) => stopAttempt(context, ref, recorded, how),
      outputOf: (ref, { nodes }) =>
        Array.from({ length: nodes }, (_, rank) => paths(ref).node(rank).rank(0)),
      async nodes(ref, { nodes }) {
        const found = []
        for (let rank = 0; rank < nodes; rank++) {
          const node = await readJson<NodeRecord>(paths(ref).node(rank).node)
          if (!node) return null
          found.push({ rank, ...node })
        }
        return found
      },
      async capacity() {
        const { gpus: count, type } = await gpus()
        return { gpus: count, series: type || 'gpu', fake: false }
      },
    }
  })
  return { executor, gpus }
}
