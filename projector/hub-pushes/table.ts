import type { ColumnType } from 'kysely'
import type { HubPushState } from '../../schemas/hub-pushes.ts'

export type HubPushTables = {
  hub_pushes: {
    push_id: string
    owner: string
    repo: string
    private: boolean
    run_id: string
    artifact_id: string | null
    model: string | null
    state: HubPushState
    file_count: number | null
    bytes: number | null
    bytes_done: number
    commit: string | null
    url: string | null
    error: string | null
    card: string | null
    created_at: ColumnType<Date, string, never>
    updated_at: ColumnType<Date, string, string>
    /** Increases with every change of any row; the cursor of the stream. */
    change: number
  }
}
