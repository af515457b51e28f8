import type { ColumnType } from 'kysely'
import type { Alert } from '../../schemas/alerts.ts'

export type AlertTables = {
  alerts: Omit<Alert, 'value' | 'fired_at' | 'resolved_at'> & {
    /** May be non-finite. */
    value: number | null
    fired_at: ColumnType<Date, string, string>
    resolved_at: ColumnType<Date | null, string | null, string | null>
    /** 1, 2, … over all alerts; a resolved alert gets a new number. */
    change: number
  }
}
