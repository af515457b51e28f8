import { sql } from 'kysely'
import type { AlertEvent } from '../../events/alerts.ts'
import { fromJsonNumber } from '../../platform/series/json-number.ts'
import type { Handlers } from '../projection.ts'
import type { AlertTables } from './table.ts'

/** The next number. With a single writer it follows the log and is the same after a replay. */
const nextChange = sql<number>`(select coalesce(max(change), 0) + 1 from alerts)`

export const alertProjection: Handlers<AlertTables, AlertEvent> = {
  'alert.fired': (tx, { data, occurred_at }) => {
    const { alert_id, run_id, attempt, rule, source, kind, level, title, text, key, step } = data
    return tx
      .insertInto('alerts')
      .values({
        ...{ alert_id, run_id, attempt, rule, source, kind, level, title, text, key, step },
        value: data.value === null ? null : fromJsonNumber(data.value),
        state: data.lasting ? 'open' : 'noted',
        fired_at: occurred_at,
        resolved_at: null,
        resolution: null,
        change: nextChange,
      })
      .execute()
  },
  'alert.resolved': (tx, { data, occurred_at }) =>
    tx
      .updateTable('alerts')
      .set({
        state: 'resolved',
        resolved_at: occurred_at,
        resolution: data.reason,
        change: nextChange,
      })
      .where('alert_id', '=', data.alert_id)
      .execute(),
}
