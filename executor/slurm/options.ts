import type { PreparationCommand } from '../attempts/attempts-executor.ts'
import type { SlurmClient } from './client.ts'

export type SlurmExecutorOptions = {
  /** A folder that this server and all nodes see under the same path, for the files of runs; readable only by this user. */
  runsDirectory: string
  client: SlurmClient
  partition: string | null
  account: string | null
  /** The host's environment as runs see it: `hostEnvironment(process.env)`. */
  hostEnvironment: Record<string, string>
  preparationCommand: PreparationCommand
  now: () => Date
  /** How long a record may take from a node to this server, after Slurm says that a job is over. */
  settleMs?: number
}
