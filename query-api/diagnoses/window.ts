import { parseTimestamp, toTimestamp } from '../../schemas/timestamp.ts'
import { Invalid } from '../../schemas/validate.ts'

const dayMs = 86_400_000
const usualDays = 30
const maxDays = 90
/** Days that are counted one by one. */
const shownDays = 30

/** A window up to now; `before` is the start of the previous window, which has the same length. */
export type Window = {
  before: Date
  since: Date
  until: Date
  /** From then on days are counted: the start of the window, or later. */
  daysFrom: Date
}

/** The window from `since`, by default today and the 29 UTC days before; 422 if it is in the future or too long ago. */
export function windowOf(since: string | undefined, until: Date): Window {
  const today = startOfDay(until.getTime())
  const from = since === undefined ? today - (usualDays - 1) * dayMs : parseTimestamp(since)
  const length = until.getTime() - from
  if (length < 0 || length > maxDays * dayMs)
    throw new Invalid([
      {
        loc: ['query', 'since'],
        msg: `Input should be in the past, at most ${maxDays} days ago: from ${toTimestamp(new Date(until.getTime() - maxDays * dayMs))} to ${toTimestamp(until)}`,
        type: 'value_error',
        input: since,
      },
    ])
  return {
    before: new Date(from - length),
    since: new Date(from),
    until,
    daysFrom: new Date(Math.max(from, today - (shownDays - 1) * dayMs)),
  }
}

/** The UTC days that are counted, e.g. `2026-11-20`, the oldest first. */
export function daysOf({ daysFrom, until }: Window): string[] {
  const first = startOfDay(daysFrom.getTime())
  const count = (startOfDay(until.getTime()) - first) / dayMs + 1
  return Array.from({ length: count }, (_, nth) =>
    new Date(first + nth * dayMs).toISOString().slice(0, 10),
  )
}

const startOfDay = (ms: number): number => Math.floor(ms / dayMs) * dayMs
