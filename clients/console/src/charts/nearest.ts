import type { Line } from './series.ts'

export type Reading = { nth: number; line: Line; x: number; value: number }

/** The last place at or before `x` in a rising list; -1 if there is none. */
export function lastUpTo(xs: readonly number[], x: number): number {
  let [from, to] = [0, xs.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if ((xs[middle] ?? Number.POSITIVE_INFINITY) <= x) from = middle + 1
    else to = middle
  }
  return from - 1
}

/** What each line shows nearest to `x`. A line that has not begun or has ended there shows nothing. */
export function readingsAt(lines: readonly Line[], x: number): Reading[] {
  return lines.flatMap((line, nth) => {
    const [first, last] = [line.x[0], line.x.at(-1)]
    if (first === undefined || last === undefined || x < first || x > last) return []
    const before = lastUpTo(line.x, x)
    const after = Math.min(before + 1, line.x.length - 1)
    const at = x - (line.x[before] ?? first) <= (line.x[after] ?? last) - x ? before : after
    const [place, value] = [line.x[at], line.value[at]]
    return place === undefined || value == null ? [] : [{ nth, line, x: place, value }]
  })
}
