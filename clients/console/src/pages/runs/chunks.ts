/** Rows of one request. */
export const chunkRows = 100
/** The longest list: browsers draw nothing much higher than 16,000,000 pixels. */
const mostRows = 400_000

/** The requests that cover the rows `from` to `to`, and one on each side, so that scrolling finds them loaded. */
export function chunksFor(from: number, to: number, count: number): number[] {
  const last = Math.max(0, Math.ceil(count / chunkRows) - 1)
  const first = Math.max(0, Math.floor(from / chunkRows) - 1)
  const end = Math.min(last, Math.floor(to / chunkRows) + 1)
  return Array.from({ length: Math.max(0, end - first + 1) }, (_, nth) => first + nth)
}

/**
 * How many rows to reserve room for. Past 10,000 the server does not count: then there is room for one more chunk than
 * is known, growing with each.
 */
export function countOf(total: number | null, chunks: ReadonlyMap<number, number>): number {
  if (total !== null) return Math.min(total, mostRows)
  const known = Math.max(0, ...chunks.keys())
  const isLast = (chunks.get(known) ?? chunkRows) < chunkRows
  const rows = known * chunkRows + (isLast ? (chunks.get(known) ?? 0) : 2 * chunkRows)
  return Math.min(mostRows, Math.max(isLast ? 0 : 10_001, rows))
}
