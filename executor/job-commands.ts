import type { QueueReason } from '../schemas/jobs.ts'
import type { Exited } from './port.ts'

/** A job that waits for its turn, in queue order, and whose owner may hold it besides what they hold now. */
export type WaitingJob = { run_id: string; gpus: number; reason: QueueReason | null }

/** An attempt that holds its GPUs: scheduled and not yet known to have ended, whatever its job's state. */
export type ActiveAttempt = {
  run_id: string
  attempt: number
  gpu_indexes: readonly number[]
  scheduled_at: Date
  /** Whether the executor's own RUNNING mark was recorded. */
  executor_running: boolean
  /** What is to be asked of the engine now, where the attempt is to end. */
  stop: { grace_s: number; force: boolean } | null
  /** When a limit of the job's spec is reached. */
  limit_at: Date | null
  /** Bytes of each stream that are on the log. */
  shipped: { stdout: number; stderr: number }
}

/** What to run, in words that every engine has its own program for. */
export type LaunchOrder = {
  run_id: string
  attempt: number
  fencing_token: number
  gpu_indexes: readonly number[]
  /** As it was admitted. */
  recipe: { name: string; version: string; digest: string }
  params: Record<string, unknown>
  /** The artifact that training starts from. */
  init_from: { artifact_id: string; run_id: string; path: string; load: string } | null
  /** The newest checkpoint of earlier attempts. */
  resume_from: string | null
  env: Record<string, string>
  /** The four `SERVICE_*` variables; the token among them is shown nowhere else. */
  reporting: Record<string, string>
}

export type Scheduled = 'scheduled' | 'quota_in_use' | 'gone'

/** What the executor may do to jobs; each call decides on the job's own events and may be repeated. */
export type JobCommands = {
  waiting(): Promise<readonly WaitingJob[]>
  active(): Promise<readonly ActiveAttempt[]>
  /** Takes the quota and the GPUs and makes the next attempt, in one transaction; `gone`: it no longer waits. */
  schedule(runId: string, gpuIndexes: readonly number[]): Promise<Scheduled>
  /** Notes why a job still waits, where the reason is a new one. */
  keepWaiting(runId: string, reason: QueueReason): Promise<void>
  /** What to run, with an ingest token issued for this call: those issued before end. */
  launch(runId: string, attempt: number): Promise<LaunchOrder>
  executorRunning(runId: string, attempt: number, at: Date): Promise<void>
  /** Asks for a stop because a limit of the job's spec is reached. */
  stopForLimit(runId: string, attempt: number): Promise<void>
  /** Remembers how much of the output is on the log. */
  shipped(runId: string, attempt: number, offsets: ActiveAttempt['shipped']): Promise<void>
  /** The attempt has ended and its output is on the log: releases what it held and ends or requeues the job. */
  exited(runId: string, attempt: number, exit: Omit<Exited, 'state'>): Promise<void>
}
