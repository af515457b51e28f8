import type { Estimate } from '../../schemas/jobs/jobs.ts'
import type { LookedStage, PlannedStage } from '../../schemas/plans.ts'

/** The estimate of a whole plan: the sum; null unless every job has one. */
export function totalOf(
  stages: readonly Pick<PlannedStage, 'kind'>[],
  looked: readonly Pick<LookedStage, 'estimate'>[],
): Estimate | null {
  const jobs = looked.filter((_, nth) => stages[nth]?.kind !== 'deploy')
  const known = jobs.flatMap(({ estimate }) => estimate ?? [])
  const [first] = known
  if (!first || known.length < jobs.length) return null
  if (known.length === 1) return first
  const sum = (of: (one: Estimate) => string) =>
    known.reduce((all, one) => all + Number(of(one)), 0).toFixed(2)
  return {
    gpu_hours: sum(one => one.gpu_hours),
    cost: sum(one => one.cost),
    currency: first.currency,
    basis: `the sum of ${known.length} stages`,
  }
}
