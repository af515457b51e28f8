import type { AuditRow } from '../../../../../schemas/audit.ts'

/** Events of one type by one run, one after the other. `row` is the newest. */
export type Folded = { row: AuditRow; rows: readonly AuditRow[] }

const isSame = (a: AuditRow, b: AuditRow): boolean =>
  a.actor.type === 'run' && a.actor.id === b.actor.id && a.type === b.type

/** One line for everything that the code of a run reports in the same way, without anything else in between. */
export function folded(rows: readonly AuditRow[]): Folded[] {
  const lines: { row: AuditRow; rows: AuditRow[] }[] = []
  for (const row of rows) {
    const last = lines.at(-1)
    if (last && isSame(last.row, row)) last.rows.push(row)
    else lines.push({ row, rows: [row] })
  }
  return lines
}

const runId = /\brun_[0-9A-HJKMNP-TV-Z]{26}\b/g

/** The runs that the rows name by their ids, at most `most`. */
export function runsIn(rows: readonly AuditRow[], most: number): string[] {
  const texts = rows.flatMap(({ summary, actor, target }) => [summary, actor.id, target.id])
  return [...new Set(texts.flatMap(text => text.match(runId) ?? []))].slice(0, most)
}

/** A text with the short ids of runs in place of their ids. */
export const named = (text: string, names: ReadonlyMap<string, string>): string =>
  text.replaceAll(runId, id => names.get(id) ?? id)

const minuteMs = 60_000

/** An instant as a field of local date and time holds it; empty for none. */
export function localOf(instant: string | undefined): string {
  const ms = Date.parse(instant ?? '')
  if (Number.isNaN(ms)) return ''
  const offset = new Date(ms).getTimezoneOffset() * minuteMs
  return new Date(ms - offset).toISOString().slice(0, 16)
}

/** The instant in a field of local date and time. */
export const instantOf = (local: string): string | undefined =>
  local === '' ? undefined : new Date(local).toISOString()
