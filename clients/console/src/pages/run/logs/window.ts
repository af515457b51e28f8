/** Lines of one request. */
export const chunkLines = 200
/** Browsers draw boxes of about thirty million pixels; a log may have more lines than fit, so it is shown in windows. */
export const windowLines = 1_000_000

/** The window (the number of its first line, from 0) in which a line stands; `last` is the newest line. */
export function windowFor(line: number, last: number): number {
  const wanted = line > 0 ? line : last
  return Math.floor(Math.max(0, wanted - 1) / windowLines) * windowLines
}

/** How many lines of a window exist. */
export const sizeOf = (start: number, last: number): number =>
  Math.max(0, Math.min(windowLines, last - start))

/** The requests for rows `from` to `to` of a window: each the number of the line before its first. */
export function chunksFor(start: number, from: number, to: number): number[] {
  const first = Math.floor((start + from) / chunkLines)
  const end = Math.floor((start + to) / chunkLines)
  return Array.from(
    { length: Math.max(0, end - first + 1) },
    (_, nth) => (first + nth) * chunkLines,
  )
}
