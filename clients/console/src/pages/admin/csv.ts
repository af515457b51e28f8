import type { AuditRow } from '../../../../../schemas/audit.ts'

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

/** One event per line (RFC 4180). Text that a spreadsheet would run as a formula is escaped. */
export const csvOf = (rows: readonly AuditRow[]): string =>
  [
    columns.map(([name]) => name).join(','),
    ...rows.map(row => columns.map(([, of]) => cellOf(of(row))).join(',')),
    '',
  ].join('\r\n')

const cellOf = (text: string): string => {
  const harmless = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
}
