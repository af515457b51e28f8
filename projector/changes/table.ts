import type { ColumnType } from 'kysely'

export type ChangeTables = {
  state_changes: {
    /** 1, 2, … over all runs, in order of occurrence. */
    change: number
    run_id: string
    project: string
    owner: string
    /** Null for the first state of a run. */
    from_state: string | null
    state: string
    state_reason: string | null
    actor: string
    event_id: string
    /** What changed where the run was renamed, tagged or the like, and its state stayed the same; null otherwise. */
    edit: ColumnType<object | null, string | null, string | null>
    at: ColumnType<Date, string, string>
  }
}
