import type { Page } from './api.ts'

/** The most rows that the server skips. */
const mostSkipped = 100_000

/**
 * Where the next page of a list begins, after pages that begin at `starts`; null: there is none, or the last one is still
 * loading. A page may be shorter than requested, where its rows are long.
 */
export function nextStart(
  starts: readonly number[],
  last: Page<unknown> | undefined,
): number | null {
  if (last === undefined || last.rows.length === 0) return null
  const end = (starts.at(-1) ?? 0) + last.rows.length
  return end > mostSkipped || (last.total !== null && end >= last.total) ? null : end
}
