import { byInterest } from '../../../../../schemas/metrics/interest.ts'
import type { RunRow } from '../../../../../schemas/runs/records.ts'

export type MainMetric = {
  key: string
  of: 'last' | 'min' | 'max'
  value: number | string
  step: number | null
}

type Judged = Pick<RunRow, 'best' | 'summary'>

/** Lists ask at each scroll. */
const found = new WeakMap<Judged, MainMetric | null>()

/** The metric that a run is judged by: the one its code marked, otherwise the most interesting one. Null: it has no metrics. */
export function mainMetricOf(run: Judged): MainMetric | null {
  const known = found.get(run)
  if (known !== undefined) return known
  const main = findIn(run)
  found.set(run, main)
  return main
}

function findIn({ best, summary }: Judged): MainMetric | null {
  if (best !== null && best.value !== null)
    return { key: best.key, of: best.goal, value: best.value, step: best.step }
  const [key] = byInterest(new Map(Object.entries(summary)))
  const one = key === undefined ? undefined : summary[key]
  return key === undefined || one === undefined
    ? null
    : { key, of: 'last', value: one.last, step: one.step }
}
