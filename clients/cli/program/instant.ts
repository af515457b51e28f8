import { instantMs } from '../terminal/amounts.ts'
import { usageFailure } from './failure.ts'

/** The value of an option for a time, as the API takes it; null if it was left out. */
export function instant(option: string, text: string | undefined, nowMs: number): string | null {
  if (text === undefined) return null
  const ms = instantMs(text, nowMs)
  if (ms === null)
    throw usageFailure(
      `${option} ${text}: give 90s, 5m, 2h, 1d or a time like 2026-11-20T19:00:00+00:00`,
    )
  // An absolute time is sent as typed: without a fraction it covers the whole second.
  return /^\d{4}-/.test(text) ? text : new Date(ms).toISOString()
}
