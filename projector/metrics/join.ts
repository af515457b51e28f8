import { emptySeries, type Series, slice } from '../../platform/series/chunk.ts'
import type { NumberedBlock } from '../../platform/series/numbered-block.ts'
import type { Points } from '../../platform/series/points.ts'
import { at } from '../../platform/series/varint.ts'
import type { MetricReport } from './group-by-run.ts'

// Shared by all calls: joining is synchronous and callers use the result at once.
let joined = emptySeries(4096)

/**
 * Joins the reports of one run into one block: the points of each key together, in log order. The first report has
 * the arrival number `firstArrival`. The next call overwrites the block's points.
 */
export function joinReports(
  reports: readonly MetricReport[],
  keyNosOf: (keys: readonly string[]) => readonly number[],
  points: Points,
  firstArrival: number,
): NumberedBlock {
  const numbered = reports.map(report => ({ ...report, keyNos: keyNosOf(report.keys) }))
  const { keys, counts, places } = addUp(numbered)
  const total = counts.reduce((sum, count) => sum + count, 0)
  if (joined.steps.length < total) joined = emptySeries(total)
  const next = startsOf(counts)
  for (const [r, report] of numbered.entries()) {
    let from = report.from
    for (const [k, keyNo] of report.keyNos.entries()) {
      const place = places === null ? k : (places.get(keyNo) ?? 0)
      const count = report.counts[k] ?? 0
      const to = next[place] ?? 0
      copy(points, { from, count, to, arrival: firstArrival + r })
      next[place] = to + count
      from += count
    }
  }
  return { keys, counts, points: slice(joined, 0, total) }
}

type Numbered = MetricReport & { keyNos: readonly number[] }

/** All keys with their number of points; `places` is null if all reports have the same keys. */
function addUp(reports: readonly Numbered[]) {
  const first = reports[0]
  if (first && reports.every(report => report.keyNos === first.keyNos)) {
    const counts = first.counts.map((_, k) =>
      reports.reduce((sum, report) => sum + (report.counts[k] ?? 0), 0),
    )
    return { keys: first.keyNos, counts, places: null }
  }
  const places = new Map<number, number>()
  const counts: number[] = []
  for (const { keyNos, counts: reported } of reports)
    for (const [k, keyNo] of keyNos.entries()) {
      const place = places.get(keyNo) ?? places.size
      places.set(keyNo, place)
      counts[place] = (counts[place] ?? 0) + (reported[k] ?? 0)
    }
  return { keys: [...places.keys()], counts, places }
}

function startsOf(counts: readonly number[]): number[] {
  let start = 0
  return counts.map(count => {
    start += count
    return start - count
  })
}

type Copy = { from: number; count: number; to: number; arrival: number }

function copy(source: Points, { from, count, to, arrival }: Copy): void {
  const { arrivals, steps, ts, values }: Series = joined
  for (let i = 0; i < count; i++) {
    arrivals[to + i] = arrival
    steps[to + i] = at(source.steps, from + i)
    ts[to + i] = at(source.ts, from + i)
    values[to + i] = at(source.values, from + i)
  }
}
