import type { Estimate } from '../../../schemas/jobs/jobs.ts'
import { currency } from '../../../schemas/profiles.ts'
import type { Recipe } from '../../../schemas/recipes.ts'
import { type AdmissionFacts, lineOf, type PastRuns, requestOf } from './facts.ts'

export const lastRuns = ({ runs }: PastRuns, recipe: Recipe) =>
  runs === 1 ? `last ${lineOf(recipe)} run` : `last ${runs} ${lineOf(recipe)} runs`

/** GPU-hours within the time limit; infinite without a limit. */
export const allowedHours = (facts: AdmissionFacts): number => {
  const { max_duration_s } = facts.spec.spec.limits
  return max_duration_s === null
    ? Number.POSITIVE_INFINITY
    : (max_duration_s / 3600) * requestOf(facts).gpus
}

/**
 * The estimated usage: that of the recipe's newest runs, capped by the time limit; without runs, the time limit itself. Null
 * without either.
 */
export function estimateOf(facts: AdmissionFacts): Estimate | null {
  const { profile, past, recipe } = facts
  const { max_duration_s } = facts.spec.spec.limits
  if (!profile) return null
  const allowed = allowedHours(facts)
  const hours = Math.min(past?.gpu_hours ?? Number.POSITIVE_INFINITY, allowed)
  if (hours === Number.POSITIVE_INFINITY) return null
  return {
    gpu_hours: hours.toFixed(2),
    cost: (hours * Number(profile.price_per_gpu_hour)).toFixed(2),
    currency,
    basis:
      past && recipe && past.gpu_hours <= allowed
        ? lastRuns(past, recipe)
        : `limits.max_duration_s: ${max_duration_s}`,
  }
}
