import type { Attempts } from '../attempts/attempts-executor.ts'
import type { AttemptRef } from '../port.ts'
import type { SlurmPaths } from './attempt-files.ts'
import type { ClusterGpus } from './cluster-gpus.ts'
import type { JobLooks } from './job-looks.ts'
import type { SlurmExecutorOptions } from './options.ts'

/** The context shared by every part of this executor. */
export type SlurmContext = {
  options: SlurmExecutorOptions
  attempts: Attempts
  looks: JobLooks
  gpus(): Promise<ClusterGpus>
  paths(ref: AttemptRef): SlurmPaths
}
