import type { Resolved } from '../../../schemas/jobs.ts'
import type { JobSpec } from '../../../schemas/jobspec.ts'
import type { Profile } from '../../../schemas/profiles.ts'
import type { Quota } from '../../../schemas/quotas.ts'
import type { Recipe } from '../../../schemas/recipes.ts'
import type { ValidationError } from '../../../schemas/shared.ts'

/** Everything the gates ask about, gathered before the first of them is asked. */
export type AdmissionFacts = {
  spec: JobSpec
  caller: { username: string; role: 'admin' | 'operator' }
  /** The recipe that the lock names: of its version, or else the newest of its name. */
  recipe: Recipe | null
  /** Names of the catalogue. */
  recipes: readonly string[]
  /** What the recipe's schema makes of the parameters; null without a recipe. */
  params: { value: Record<string, unknown>; errors: readonly ValidationError[] } | null
  registries: readonly string[]
  quota: Quota
  /** GPUs that the submitter's jobs hold now. */
  held_gpus: number
  /** The profile that the spec names, or the one that is meant where it names none. */
  profile: Profile | null
  profiles: readonly string[]
  /** References that lead nowhere, or to what the submitter may not read, each with what is wrong. */
  dangling: readonly string[]
  resolved: Resolved
}

/** What the spec asks of the hardware, with what it leaves to the recipe filled in. */
export function requestOf({ spec, recipe, profile }: AdmissionFacts) {
  const { resources } = spec.spec
  const gpus_per_node = resources.gpus_per_node ?? recipe?.resources.min_gpus ?? 1
  return {
    nodes: resources.nodes,
    gpus_per_node,
    gpus: resources.nodes * gpus_per_node,
    series: resources.series ?? profile?.series ?? '',
  }
}
