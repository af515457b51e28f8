import { parseTimestamp } from '../../schemas/timestamp.ts'
import type { UsageQuery } from '../../schemas/usage.ts'
import { Invalid } from '../../schemas/validate.ts'

const dayMs = 86_400_000
const usualDays = 30
/** Years that PostgreSQL and ten-character dates can represent; no bill reaches further. */
const [earliest, latest] = [Date.parse('1000-01-01'), Date.parse('9999-12-31')]

/** The first and the last requested UTC day. */
export function daysOf({ from, to }: Pick<UsageQuery, 'from' | 'to'>, now: Date) {
  const last = to === undefined ? now.getTime() : instantOf(to, 'to')
  const first = from === undefined ? last - (usualDays - 1) * dayMs : instantOf(from, 'from')
  return { from: dayOf(first), to: dayOf(last) }
}

const dayOf = (ms: number): string =>
  new Date(Math.min(latest, Math.max(earliest, ms))).toISOString().slice(0, 10)

function instantOf(text: string, field: string): number {
  const ms = parseTimestamp(text.length === 10 ? `${text}T00:00:00Z` : text)
  if (!Number.isNaN(ms)) return ms
  const msg = 'Input should be a day such as 2026-11-20, or a time with its offset'
  throw new Invalid([{ loc: ['query', field], msg, type: 'datetime_parsing', input: text }])
}
