import type { SweepInput } from '../../schemas/plans.ts'
import type { Curve } from './ports.ts'

type Goal = 'min' | 'max'
type Rule = NonNullable<SweepInput['early_stop']>

/** The best value up to a step; null if there is none. */
export function bestOf(curve: Curve, goal: Goal, until = Number.POSITIVE_INFINITY): number | null {
  const values = curve.flatMap(point => {
    const value = point[goal]
    return point.step <= until && Number.isFinite(value) ? value : []
  })
  if (values.length === 0) return null
  return values.reduce((best, value) => (isBetter(value, best, goal) ? value : best))
}

const isBetter = (one: number, other: number, goal: Goal): boolean =>
  goal === 'min' ? one < other : one > other

export type Judged = { run_id: string; step: number; best: number; median: number }

/** The running runs whose best value is worse than the median of what the others had reached by the same step. */
export function runsToStop(
  curves: ReadonlyMap<string, Curve>,
  running: readonly string[],
  { min_step, min_runs, goal }: Rule & { goal: Goal },
): Judged[] {
  return running.flatMap(run_id => {
    const curve = curves.get(run_id) ?? []
    const step = curve.at(-1)?.step
    const best = bestOf(curve, goal)
    if (step === undefined || best === null || step < min_step) return []
    const others = [...curves].flatMap(([other, points]) => {
      const cameAsFar = other !== run_id && (points.at(-1)?.step ?? -1) >= step
      return cameAsFar ? (bestOf(points, goal, step) ?? []) : []
    })
    if (others.length < min_runs) return []
    const median = medianOf(others)
    return isBetter(median, best, goal) ? [{ run_id, step, best, median }] : []
  })
}

function medianOf(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other)
  const middle = Math.floor(sorted.length / 2)
  const [low = 0, high = 0] = [
    sorted[sorted.length % 2 === 0 ? middle - 1 : middle],
    sorted[middle],
  ]
  return (low + high) / 2
}
