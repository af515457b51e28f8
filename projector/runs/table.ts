import type { ColumnType } from 'kysely'

type Instant = ColumnType<Date, string, string>
type MaybeInstant = ColumnType<Date | null, string | null, string | null>

export type RunState = 'pending' | 'running' | 'succeeded' | 'failed' | 'stopped' | 'abandoned'

type Run = {
  run_id: string
  short_id: string
  name: string | null
  project: string
  owner: string
  team: string | null
  source: 'job' | 'external'
  state: RunState
  created_at: Instant
  started_at: MaybeInstant
  ended_at: MaybeInstant
  /** When an external run was last heard from, if it has been silent since. */
  silent_since: MaybeInstant
  tags: string[]
  notes: string
  starred: boolean
  archived: boolean
  recipe_name: string | null
  recipe_version: string | null
  init_from: string[]
  datasets: string[]
  /** The run that its job repeats, or whose JobSpec it was copied from. */
  retry_of: string | null
  clone_of: string | null
  best_key: string | null
  best_goal: 'max' | 'min' | null
  /** Text searched by `?q=`. */
  search: string
  deleted_at: MaybeInstant
  /** The number of jobs that keep it from being purged. */
  kept_for: number
}

export type RunTables = {
  runs: Run
  /** How runs and their processes ended; lists do not read it. */
  run_ends: {
    run_id: string
    end_reason: string | null
    exit_code: number | null
    /** The signal that ended the job's process, e.g. `SIGKILL`. */
    signal: string | null
    message: string | null
  }
  /** For lists, the runs that the session may read, without deleted ones: the view contains the row-level rule. */
  readable_runs: Run
}
