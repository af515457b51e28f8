import type { NodeOfRank } from '../events/jobs.ts'
import type { ReplicaServing } from '../schemas/deployments/replicas.ts'
import type { QueueReason } from '../schemas/jobs/jobs.ts'
import type { Exited, Offsets, Preparation } from './port.ts'

/** Why nothing starts on an executor. */
export type WhyClosed = 'queue_paused' | 'draining'

/** A queued job whose owner's quota has room for it; listed in queue order. */
export type WaitingJob = {
  run_id: string
  nodes: number
  /** On all nodes together. */
  gpus: number
  reason: QueueReason | null
}

/** An attempt that holds GPUs: scheduled and not known to have ended, whatever its job's state. */
export type ActiveAttempt = {
  run_id: string
  attempt: number
  gpu_indexes: readonly number[]
  scheduled_at: Date
  /** Whether it is known to be this machine's. Attempts from before an upgrade may belong to any machine. */
  is_claimed: boolean
  /** Whether the executor has recorded the attempt as running. */
  executor_running: boolean
  /** The stop to request from the executor, or null. */
  stop: { grace_s: number; force: boolean } | null
  /** When the attempt reaches a limit of the job's spec. */
  limit_at: Date | null
  nodes: number
  /** The names of its nodes by rank, as far as they were recorded. */
  placed_on: readonly string[]
  /** Bytes of each stream that are already on the log. */
  shipped: Offsets
}

export type AttemptOfRun = { run_id: string; attempt: number }

/** The program to run, independent of the executor. */
export type LaunchOrder = {
  run_id: string
  attempt: number
  fencing_token: number
  nodes: number
  gpu_indexes: readonly number[]
  /** As admitted. */
  recipe: { name: string; version: string; digest: string }
  params: Record<string, unknown>
  /** The files that the job brings along, by the digest of their archive. */
  package: { sha256: string } | null
  /** The artifact from which training starts. */
  init_from: { artifact_id: string; run_id: string; path: string; load: string } | null
  /** The checkpoint of an earlier attempt from which this one continues. */
  resume_from: string | null
  /** The ones of these two artifacts that are in Forge's store and must be fetched. */
  stored: Preparation['stored']
  /** The datasets that its spec names, in the versions that were admitted. */
  datasets: Preparation['datasets']
  /** The RL environments that its spec names. */
  environments: Preparation['environments']
  /** The imported model that its spec names. */
  model: Preparation['model']
  /** The imported adapter. */
  adapter: Preparation['adapter']
  /** The volumes that its spec names. */
  volumes: Preparation['volumes']
  /** The benchmarks that its spec names, with their definitions, for the code of the run. */
  benchmarks: readonly object[]
  /** How often the code should write a checkpoint, as its spec says. */
  checkpoint_every_steps: number | null
  /** How much disk space it may occupy, in bytes, as its spec says. */
  disk_bytes?: number | null
  env: Record<string, string>
  /** How to serve, if the job is a replica of a revision. */
  serving: ReplicaServing | null
  /** The four `SERVICE_*` variables, and MLflow's three for the same, including the only copies of the token. */
  reporting: Record<string, string>
}

/** `gpus_taken`: another job has got one of them since they were selected; `gone`: the job is no longer queued. */
export type Scheduled =
  | 'scheduled'
  | 'quota_in_use'
  | 'over_budget'
  | 'team_pool_in_use'
  | 'gpus_taken'
  | 'volume_in_use'
  | 'gone'
  | WhyClosed

/** The executor's commands on jobs; each decides from the job's events and may be repeated. */
export type JobCommands = {
  waiting(): Promise<readonly WaitingJob[]>
  /** Attempts on this machine, and attempts whose machine is unknown. */
  active(): Promise<readonly ActiveAttempt[]>
  /** Filters these attempts for those known to have ended. */
  over(attempts: readonly AttemptOfRun[]): Promise<readonly AttemptOfRun[]>
  /** The GPUs held by the attempts that `active` lists. */
  heldGpus(): Promise<readonly number[]>
  /** Records that this machine is supervising its attempts. */
  noteSeen(): Promise<void>
  /** Records that an attempt is this machine's. */
  claim(run_id: string, attempt: number): Promise<void>
  /** Attempts of machines that have been silent for this long, and attempts that no machine has claimed. */
  lostElsewhere(
    silentMs: number,
  ): Promise<readonly Pick<ActiveAttempt, 'run_id' | 'attempt' | 'scheduled_at'>[]>
  /** Reserves quota and GPUs and creates the next attempt in one transaction, or does nothing. */
  schedule(run_id: string, gpu_indexes: readonly number[]): Promise<Scheduled>
  /** Whether jobs of this executor are queued; asked often, and therefore cheap. */
  isAnyQueued(): Promise<boolean>
  /** Null: jobs may start. */
  whyClosed(): Promise<WhyClosed | null>
  /** Records why jobs still wait. */
  recordWaitReasons(waits: readonly { run_id: string; reason: QueueReason }[]): Promise<void>
  /** Records one reason for all waiting jobs. */
  recordWaitReasonOfAll(reason: WhyClosed): Promise<void>
  /** The order to launch an attempt, with a new ingest token; earlier tokens of the run end. */
  launch(run_id: string, attempt: number): Promise<LaunchOrder>
  executorRunning(run_id: string, attempt: number, started_at: string): Promise<void>
  /** Records on which nodes the attempt runs. */
  placed(run_id: string, attempt: number, nodes: readonly NodeOfRank[]): Promise<void>
  /** Requests a stop because a limit of the job's spec was reached. */
  stopForLimit(run_id: string, attempt: number): Promise<void>
  /** Records how much of the output is on the log. */
  shipped(run_id: string, attempt: number, offsets: ActiveAttempt['shipped']): Promise<void>
  /** Releases what an ended attempt held, and ends or requeues the job. Its output must be on the log. */
  exited(run_id: string, attempt: number, exit: Omit<Exited, 'state'>): Promise<void>
}
