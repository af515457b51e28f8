import type { Days } from './billed.ts'

/** The days of a calendar month; without a name, of the current one (UTC). */
export function daysOfMonth(month: string | undefined, now: Date): Days & { month: string } {
  const name = month ?? now.toISOString().slice(0, 7)
  return { month: name, from: `${name}-01`, to: lastDayOf(name) }
}

const lastDayOf = (month: string): string => {
  const [year = 0, nth = 1] = month.split('-').map(Number)
  return new Date(Date.UTC(year, nth, 0)).toISOString().slice(0, 10)
}
