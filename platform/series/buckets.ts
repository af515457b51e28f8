import type { Series, Summary } from './chunk.ts'
import { type JsonNumber, toJsonNumber } from './json-number.ts'
import { meanWithin, saturate } from './sum.ts'
import { at } from './varint.ts'

/** The horizontal axis of a chart: the step, or the time in epoch milliseconds. */
export type Axis = 'step' | 'time'

/**
 * `[step, min, max, mean, last, ts]` of one bucket. Extremes and mean are over finite values, null if there are none;
 * `step`, `last` and `ts` belong to the point with the greatest step.
 */
export type BucketPoint = [
  step: number,
  min: number | null,
  max: number | null,
  mean: number | null,
  last: JsonNumber,
  ts: number,
]

/** Index i of each column is bucket i, with the points in [edges[i], edges[i + 1]); the last bucket has no end. */
export type Buckets = {
  axis: Axis
  edges: Float64Array
  count: Float64Array
  nonfinite: Float64Array
  min: Float64Array
  max: Float64Array
  sum: Float64Array
  step: Float64Array
  last: Float64Array
  ts: Float64Array
}

export function createBuckets(axis: Axis, edges: Float64Array): Buckets {
  const column = (fill: number) => new Float64Array(edges.length).fill(fill)
  return {
    axis,
    edges,
    count: column(0),
    nonfinite: column(0),
    min: column(Number.POSITIVE_INFINITY),
    max: column(Number.NEGATIVE_INFINITY),
    sum: column(0),
    step: column(Number.NEGATIVE_INFINITY),
    last: column(0),
    ts: column(0),
  }
}

/** Lower edges of `buckets` equal buckets from `from` to `to`, both included. */
export function evenEdges(from: number, to: number, buckets: number): Float64Array {
  const width = (to - from) / buckets
  return Float64Array.from({ length: buckets }, (_, i) => from + i * width)
}

/**
 * Moves each edge that would cut a stretch of at most half a bucket to the beginning of that stretch, which can then
 * be counted without being read. `stretches` ascend and do not overlap.
 */
export function spareStretches(
  edges: Float64Array,
  stretches: readonly { first: number; last: number }[],
): Float64Array {
  const spared = edges.slice()
  const width = at(edges, 1) - at(edges, 0)
  let s = 0
  for (let i = 1; i < edges.length; i++) {
    while (s < stretches.length && (stretches[s]?.last ?? 0) < at(edges, i)) s++
    const stretch = stretches[s]
    if (stretch && stretch.first < at(edges, i) && (stretch.last - stretch.first) * 2 <= width)
      spared[i] = stretch.first
  }
  return spared
}

/** The bucket that contains `x`; the first bucket for everything before it. */
function bucketOf(edges: Float64Array, x: number): number {
  let low = 0
  let high = edges.length
  while (high - low > 1) {
    const middle = (low + high) >>> 1
    if (at(edges, middle) <= x) low = middle
    else high = middle
  }
  return low
}

/** Counts a whole stretch by its summary; returns false, without counting, if it does not lie in one bucket. */
export function addSummary(buckets: Buckets, summary: Summary): boolean {
  const [first, last] = extentOf(buckets.axis, summary)
  const b = bucketOf(buckets.edges, first)
  if (b !== bucketOf(buckets.edges, last)) return false
  buckets.count[b] = at(buckets.count, b) + summary.count
  buckets.nonfinite[b] = at(buckets.nonfinite, b) + summary.nonfinite
  buckets.sum[b] = saturate(at(buckets.sum, b) + summary.sum)
  buckets.min[b] = Math.min(at(buckets.min, b), summary.min ?? Number.POSITIVE_INFINITY)
  buckets.max[b] = Math.max(at(buckets.max, b), summary.max ?? Number.NEGATIVE_INFINITY)
  if (summary.last_step > at(buckets.step, b)) {
    buckets.step[b] = summary.last_step
    buckets.last[b] = summary.last
    buckets.ts[b] = summary.last_ts
  }
  return true
}

/** The least and greatest position of a stretch along an axis. */
export const extentOf = (axis: Axis, summary: Summary): [number, number] =>
  axis === 'step' ? [summary.first_step, summary.last_step] : [summary.first_ts, summary.max_ts]

/** Counts the points of a resolved series between `from` and `to` along the axis, both included. */
export function addSeries(buckets: Buckets, series: Series, from: number, to: number): void {
  const along = buckets.axis === 'step' ? series.steps : series.ts
  const { edges } = buckets
  let i = 0
  while (i < along.length) {
    const x = at(along, i)
    if (x < from || x > to) {
      i++
      continue
    }
    const b = bucketOf(edges, x)
    const lower = b === 0 ? from : Math.max(from, at(edges, b))
    const upper = Math.min(to, below(edges[b + 1]))
    let end = i + 1
    while (end < along.length && at(along, end) >= lower && at(along, end) <= upper) end++
    addStretch(buckets, b, series, i, end)
    i = end
  }
}

/** The greatest number below an edge; steps and times are whole. */
const below = (edge: number | undefined) =>
  edge === undefined ? Number.POSITIVE_INFINITY : Math.ceil(edge) - 1

/** Counts points that all lie in one bucket. */
function addStretch(
  buckets: Buckets,
  b: number,
  { steps, ts, values }: Series,
  from: number,
  end: number,
): void {
  let sum = 0
  let finite = 0
  let min = at(buckets.min, b)
  let max = at(buckets.max, b)
  for (let i = from; i < end; i++) {
    const value = at(values, i)
    // 0 for finite values only: NaN and the infinities give NaN.
    if (value - value !== 0) continue
    finite++
    sum += value
    if (value < min) min = value
    if (value > max) max = value
  }
  buckets.count[b] = at(buckets.count, b) + end - from
  buckets.nonfinite[b] = at(buckets.nonfinite, b) + end - from - finite
  buckets.sum[b] = saturate(at(buckets.sum, b) + sum)
  buckets.min[b] = min
  buckets.max[b] = max
  // The series is resolved, so its last point has the greatest step.
  const last = end - 1
  if (at(steps, last) > at(buckets.step, b)) {
    buckets.step[b] = at(steps, last)
    buckets.last[b] = at(values, last)
    buckets.ts[b] = at(ts, last)
  }
}

/** The non-empty buckets, in order. */
export function toBucketPoints(buckets: Buckets): BucketPoint[] {
  const points: BucketPoint[] = []
  for (let b = 0; b < buckets.edges.length; b++) {
    if (at(buckets.count, b) === 0) continue
    const finite = at(buckets.count, b) - at(buckets.nonfinite, b)
    const min = at(buckets.min, b)
    const max = at(buckets.max, b)
    const mean = meanWithin({ sum: at(buckets.sum, b), min, max }, finite)
    points.push([
      at(buckets.step, b),
      finite > 0 ? min : null,
      finite > 0 ? max : null,
      finite > 0 ? mean : null,
      toJsonNumber(at(buckets.last, b)),
      at(buckets.ts, b),
    ])
  }
  return points
}

/** `[step, count]` of each bucket with non-finite values, so that a chart can mark them. */
export function toNonfiniteMarks(buckets: Buckets): [step: number, count: number][] {
  const marks: [number, number][] = []
  for (let b = 0; b < buckets.edges.length; b++)
    if (at(buckets.nonfinite, b) > 0) marks.push([at(buckets.step, b), at(buckets.nonfinite, b)])
  return marks
}

/** Each point of a resolved series between `from` and `to` along the axis, as a bucket of one. */
export function toRawPoints(axis: Axis, series: Series, from: number, to: number): BucketPoint[] {
  const along = axis === 'step' ? series.steps : series.ts
  const points: BucketPoint[] = []
  for (let i = 0; i < along.length; i++) {
    if (at(along, i) < from || at(along, i) > to) continue
    const value = at(series.values, i)
    const shown = Number.isFinite(value) ? value : null
    points.push([at(series.steps, i), shown, shown, shown, toJsonNumber(value), at(series.ts, i)])
  }
  return points
}
