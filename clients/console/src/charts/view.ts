import type { Filter, XAxis } from './series.ts'
import type { Range } from './zoom.ts'

/** How a chart is drawn. */
export type ChartView = {
  x: XAxis
  /** Another metric of the same run as the axis, in place of `x`. */
  xKey: string | null
  isLog: boolean
  isLogX: boolean
  /** From 0 (as reported) to nearly 1. */
  smoothing: number
  filter: Filter
  /** The visible values; null where the data decide. */
  limits: { low: number | null; high: number | null }
  /** The visible part of the axis; null: all of it. */
  range: Range
}

export const plainView: ChartView = {
  ...{ x: 'step', xKey: null, isLog: false, isLogX: false, smoothing: 0, filter: 'exponential' },
  ...{ limits: { low: null, high: null }, range: null },
}

/** The limits that an axis can have: a logarithmic one never reaches zero; without a positive limit uPlot would seek its ticks endlessly. */
export function drawableLimits(
  isLog: boolean,
  { low, high }: ChartView['limits'],
): ChartView['limits'] {
  const drawable = (limit: number | null) => (isLog && limit !== null && limit <= 0 ? null : limit)
  return { low: drawable(low), high: drawable(high) }
}
