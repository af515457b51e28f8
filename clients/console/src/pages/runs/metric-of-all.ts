import type { RunRow } from '../../../../../schemas/runs/records.ts'
import { mainMetricOf } from '../run/main-metric.ts'
import type { MetricColumn } from './columns.ts'

/** The metric in the column of the best values, if it is one and the same. */
export function commonMetric(loaded: readonly RunRow[]): MetricColumn | null {
  const mains = loaded.slice(0, 100).flatMap(run => mainMetricOf(run) ?? [])
  const [first] = mains
  if (first === undefined) return null
  const { key, of } = first
  return mains.every(one => one.key === key && one.of === of) ? { key, of } : null
}
