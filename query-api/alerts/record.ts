import type { Selectable } from 'kysely'
import { toJsonNumber } from '../../platform/series/json-number.ts'
import type { AlertTables } from '../../projector/alerts/table.ts'
import type { Alert } from '../../schemas/alerts.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'

/** The record of an alert, without its place in the stream. */
export const toAlert = ({
  value,
  fired_at,
  resolved_at,
  change: _,
  ...row
}: Selectable<AlertTables['alerts']>): Alert => ({
  ...row,
  value: value === null ? null : toJsonNumber(value),
  fired_at: toTimestamp(fired_at),
  resolved_at: resolved_at && toTimestamp(resolved_at),
})
