import type { Cells, Extremes } from '../../platform/series/cells.ts'
import type { Series } from '../../platform/series/chunk.ts'
import { at } from '../../platform/series/varint.ts'

/**
 * Buckets that the curves of all runs share: bucket i holds the positions from (first + i) × width to below the next. The
 * width is a power of two, so that buckets consist of whole cells and stay where they are while runs grow.
 */
export type Grid = { width: number; first: number; length: number }

/** The buckets of a range; at most `buckets`, and more than half as many unless the range holds fewer positions. */
export function gridOver(from: number, to: number, buckets: number): Grid {
  const span = to - from + 1
  let width = 2 ** Math.max(0, Math.ceil(Math.log2(span / buckets)))
  while (lengthOf(from, to, width) > buckets) width *= 2
  return gridOfWidth(from, to, width)
}

export const gridOfWidth = (from: number, to: number, width: number): Grid => ({
  width,
  first: Math.floor(from / width),
  length: lengthOf(from, to, width),
})

const lengthOf = (from: number, to: number, width: number) =>
  Math.floor(to / width) - Math.floor(from / width) + 1

/** The first and last position that belong to a grid. */
export const reachOf = ({ width, first, length }: Grid): { from: number; to: number } => ({
  from: first * width,
  to: (first + length) * width - 1,
})

/** One run's points of one key by bucket; `x` is the position of the last point, -Infinity for an empty bucket. */
export type Curve = {
  x: Float64Array
  count: Float64Array
  sum: Float64Array
  min: Float64Array
  max: Float64Array
}

export function emptyCurve({ length }: Grid): Curve {
  const column = (fill: number) => new Float64Array(length).fill(fill)
  return {
    x: column(Number.NEGATIVE_INFINITY),
    count: column(0),
    sum: column(0),
    min: column(Number.POSITIVE_INFINITY),
    max: column(Number.NEGATIVE_INFINITY),
  }
}

/** The positions of points along an axis: a column of a series less the position of the axis' beginning. */
export type Along = { column: 'steps' | 'ts'; origin: number }

/** Adds the points of a resolved series that lie on the grid. */
export function addPoints(curve: Curve, grid: Grid, series: Series, along: Along): void {
  const column = series[along.column]
  const { values } = series
  const { width, first, length } = grid
  for (let i = 0; i < values.length; i++) {
    const x = at(column, i) - along.origin
    const b = Math.floor(x / width) - first
    if (b < 0 || b >= length) continue
    if (x > at(curve.x, b)) curve.x[b] = x
    const value = at(values, i)
    // 0 for finite values only.
    if (value - value !== 0) continue
    curve.count[b] = at(curve.count, b) + 1
    curve.sum[b] = at(curve.sum, b) + value
    if (value < at(curve.min, b)) curve.min[b] = value
    if (value > at(curve.max, b)) curve.max[b] = value
  }
}

/** Adds the cells of a chunk, each at the position of its last point. */
export function addCells(
  curve: Curve,
  grid: Grid,
  { cells, extremes }: { cells: Cells; extremes: Extremes | null },
  { column, origin }: Along,
): void {
  const [offsets, start] =
    column === 'steps' ? [cells.stepOffsets, cells.firstStep] : [cells.tsOffsets, cells.firstTs]
  const { width, first, length } = grid
  const { mins, maxs } = extremes ?? { mins: cells.means, maxs: cells.means }
  for (let c = 0; c < offsets.length; c++) {
    const x = start - origin + at(offsets, c)
    const b = Math.floor(x / width) - first
    if (b < 0 || b >= length) continue
    if (x > at(curve.x, b)) curve.x[b] = x
    const count = at(cells.counts, c)
    if (count === 0) continue
    curve.count[b] = at(curve.count, b) + count
    curve.sum[b] = at(curve.sum, b) + at(cells.means, c) * count
    curve.min[b] = Math.min(at(curve.min, b), at(mins, c))
    curve.max[b] = Math.max(at(curve.max, b), at(maxs, c))
  }
}

/** The mean of a bucket; NaN without finite values. */
export const meanOf = (curve: Curve, b: number): number => {
  const count = at(curve.count, b)
  if (count === 0) return Number.NaN
  const mean = at(curve.sum, b) / count
  if (Number.isFinite(mean)) return Math.min(Math.max(mean, at(curve.min, b)), at(curve.max, b))
  return mean > 0 ? at(curve.max, b) : at(curve.min, b)
}
