import type { ColumnType } from 'kysely'
import type { Estimate, GateResult, Resolved, Warning } from '../../schemas/jobs/jobs.ts'
import type { JobSpec } from '../../schemas/jobs/jobspec.ts'
import type { JobState } from '../../schemas/jobs/states.ts'

type Instant = ColumnType<Date, string, string>
type MaybeInstant = ColumnType<Date | null, string | null, string | null>
type Json<T> = ColumnType<T, string, string>

export type Admission = {
  gates: GateResult[]
  warnings: Warning[]
  estimate: Estimate | null
  resolved: Resolved
  spec_digest: string
}
export type Hold = { reason: string; until: string | null }
export type JobControl = {
  action: 'none' | 'checkpoint_and_exit' | 'exit'
  reason: string | null
  deadline: string | null
}

export type JobTables = {
  jobs: {
    run_id: string
    short_id: string
    name: string
    project: string
    owner: string
    team: string | null
    kind: string
    state: JobState
    state_reason: string | null
    phase: string | null
    recipe_name: string
    recipe_version: string
    profile: string
    series: string
    /** Sum over all nodes. */
    gpus: number
    nodes: number
    priority: number
    preemptible: boolean
    /** 0: not scheduled yet. */
    attempt: number
    max_attempts: number
    submitted_at: Instant
    scheduled_at: MaybeInstant
    executor_running_at: MaybeInstant
    /** The billing start of the newest attempt. */
    started_at: MaybeInstant
    ended_at: MaybeInstant
    state_since: Instant
    /** Total before `state_since`. */
    queued_ms: number
    starting_ms: number
    running_ms: number
    /** The current price; earlier ones are in the ledger. */
    price_per_gpu_hour: string
    currency: string
    exit_code: number | null
    tags: string[]
    init_from: string | null
    updated_at: Instant
    /** Steps to train; null if the job's parameters do not say. */
    total_steps: number | null
    spec: Json<JobSpec>
    admission: Json<Admission>
    hold: ColumnType<Hold | null, string | null, string | null>
    control: Json<JobControl>
    /** Since when its machine has been silent; null while it is in contact. */
    unreachable_since: MaybeInstant
    /** Text searched by `?q=`. */
    search: string
  }
  job_attempts: {
    run_id: string
    attempt: number
    nodes: string[]
    /** The artifact it continues from. */
    resume_from: string | null
    started_at: MaybeInstant
    ended_at: MaybeInstant
    end_reason: string | null
    exit_code: number | null
  }
}
