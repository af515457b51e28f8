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
