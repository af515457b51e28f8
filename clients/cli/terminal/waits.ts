import { wholeDuration } from './amounts.ts'

/**
 * When a job is expected to start, in seconds from now: the median, and a bound that is rarely exceeded
 * (docs/contribute/performance-measurements.md).
 */
export type Wait = { p50: number; p90: number }

/** `at once`, `within 2 s`, `in 12 s to 40 s`: the text after "starts". A forecast has no tenths. */
export function waitText({ p50, p90 }: Wait): string {
  const [soon, late] = [Math.round(p50), Math.round(p90)]
  if (late < 1) return 'at once'
  if (soon < 1) return `within ${wholeDuration(late)}`
  return soon === late
    ? `in ${wholeDuration(soon)}`
    : `in ${wholeDuration(soon)} to ${wholeDuration(late)}`
}
