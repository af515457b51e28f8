import type { ColumnType } from 'kysely'

export type ViewTables = {
  saved_views: {
    project: string
    /** Empty: the project's own view. */
    owner: string
    view: string
    shared: boolean
    state: ColumnType<Record<string, unknown>, string, string>
    /** Size of the state as JSON. */
    bytes: number
    saved_at: ColumnType<Date, string, string>
  }
}
