import type { QueueReason, QueueView } from '../../schemas/jobs/jobs.ts'
import type { Range, Room } from './queue-forecast.ts'
import type { QueuedJob } from './queue-order.ts'

/** A queued job as the queue shows it. */
export type WaitingJob = QueuedJob & {
  short_id: string
  project: string
  executor: string
  series: string
  profile: string
  recipe: string | null
  nodes: number
  /** Earliest time of its next attempt. */
  not_before: Date | null
  reason: QueueReason | null
}

/** A job in the queue, with its place. */
export type PlacedJob = {
  job: WaitingJob
  /** 1 starts next. */
  position: number
  /** GPUs of the jobs ahead of it. */
  ahead_gpus: number
  eta_s: Range | null
}

/** A job whose attempt holds GPUs. */
export type HoldingJob = Pick<
  WaitingJob,
  | 'run_id'
  | 'short_id'
  | 'owner'
  | 'project'
  | 'executor'
  | 'series'
  | 'profile'
  | 'recipe'
  | 'gpus'
> & {
  scheduled_at: Date
  /** When a limit of its spec ends it. */
  limit_at: Date | null
}

/** Which engines may start no job, and since when. */
export type QueueSwitches = {
  paused: boolean
  reason: string | null
  /** ISO 8601; null: the queue was never paused. */
  changed_at: string | null
  changed_by: string | null
  engines: {
    /** The name of an executor, or the id of a machine. */
    engine: string
    draining: boolean
    reason: string | null
    since: string | null
    by: string | null
    running_jobs: number
  }[]
}

/** Queries about the queue. */
export type QueuePicture = {
  /** In queue order. */
  waiting: readonly PlacedJob[]
  /** With the median remaining seconds of similar attempts; null: too few. */
  holding: readonly (HoldingJob & { left_s: number | null })[]
  /** Held jobs, which wait for a time before they are queued, earliest first. */
  held: readonly WaitingJob[]
  /** GPUs of each executor, in all. */
  capacity: ReadonlyMap<string, number>
  profiles: readonly { name: string; series: string; executor: string; gpus: number }[]
  /** The limits of each owner of a waiting job. */
  roomOf: (owner: string) => Room
}

/** The place that a job gets; `foretold` is its wait as estimated from the queue alone, uncorrected. */
export type NewPlace = { view: QueueView; foretold: Range | null }

/** A job that is about to be submitted. */
export type Newcomer = Pick<
  WaitingJob,
  'owner' | 'priority' | 'nodes' | 'gpus' | 'executor' | 'series' | 'profile' | 'recipe'
>

/**
 * The queue as a process last read it, because places and forecasts are too expensive to compute for each request. It
 * is at most a second old, or three if it is long.
 */
export type QueueBook = {
  /** The places that jobs submitted now get, each behind those before it in this call. */
  placesOf(newcomers: readonly Newcomer[]): Promise<NewPlace[]>
  /**
   * The queue that contains these waiting jobs. It is read again if one is missing, because that job may be newer than the last read.
   */
  picture(waiting?: readonly string[]): Promise<QueuePicture>
  /**
   * By profile, the GPUs that no attempt holds and no waiting job needs; negative if demand exceeds supply. Profiles
   * whose engine is not starting jobs have no entry.
   */
  idleGpus(): Promise<ReadonlyMap<string, number>>
  /** Read now. */
  switches(): Promise<QueueSwitches>
  /** The place of a job; null: it is not queued. */
  placeOfJob(run_id: string): Promise<QueueView | null>
  /** The queue was changed by this process: it is read again for the next request. */
  changed(): void
  /**
   * A job was submitted by this process: only a short queue is read again, because many submits may follow each
   * other.
   */
  submitted(): void
}
