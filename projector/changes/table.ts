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
    at: ColumnType<Date, string, string>
  }
}
