import type { ColumnType } from 'kysely'

export type SecretTables = {
  secrets: {
    owner: string
    name: string
    created_at: ColumnType<Date, string, never>
    set_at: ColumnType<Date, string, string>
  }
}
