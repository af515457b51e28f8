import type { AuditRow } from '../../../../../schemas/audit.ts'
import { csvLine } from '../../../../../schemas/csv.ts'

const columns: readonly [name: string, of: (row: AuditRow) => string][] = [
  ['occurred_at', row => row.occurred_at],
  ['type', row => row.type],
  ['summary', row => row.summary],
  ['actor', row => `${row.actor.type}:${row.actor.id}`],
  ['via', row => row.actor.via],
  ['target', row => `${row.target.type}:${row.target.id}`],
  ['request_id', row => row.request_id],
  ['event_id', row => row.event_id],
]

/** One event per line. */
export const csvOf = (rows: readonly AuditRow[]): string =>
  [
    csvLine(columns.map(([name]) => name)),
    ...rows.map(row => csvLine(columns.map(([, of]) => of(row)))),
    '',
  ].join('\r\n')
