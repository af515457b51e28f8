import type { ColumnType } from 'kysely'
import type { HubFile, HubImportState } from '../../schemas/hub-imports.ts'

export type HubImportTables = {
  hub_imports: {
    import_id: string
    owner: string
    repo: string
    commit: string
    revision: string
    state: HubImportState
    license: string | null
    gated: boolean | null
    file_count: number | null
    bytes: number | null
    bytes_done: number
    error: string | null
    digest: string | null
    files: ColumnType<HubFile[], string, string>
    created_at: ColumnType<Date, string, never>
    updated_at: ColumnType<Date, string, string>
    /** Increases with every change of any row; the cursor of the stream. */
    change: number
  }
}
