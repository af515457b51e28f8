import type { ApprovalRule, DatasetLabels } from '../../../schemas/approvals.ts'
import type { ReplicaServing } from '../../../schemas/deployments/replicas.ts'
import type { Resolved } from '../../../schemas/jobs/jobs.ts'
import type { JobSpec } from '../../../schemas/jobs/jobspec.ts'
import type { Profile } from '../../../schemas/profiles.ts'
import type { Quota } from '../../../schemas/quotas.ts'
import type { Recipe } from '../../../schemas/recipes.ts'
import type { ValidationError } from '../../../schemas/shared.ts'
import type { Pool } from '../../../schemas/teams.ts'
import type { ProjectFacts } from '../../rules/access.ts'

/** An uploaded package; `sensitive` names files that no package may hold. */
export type PackageFacts = {
  upload_id: string
  digest: string
  size_bytes: number
  files: number
  expanded_bytes: number
  sensitive: readonly string[]
}

/** The usage of the newest successful runs of a recipe. */
export type PastRuns = {
  /** The number of these runs, at most ten. */
  runs: number
  /** The median. */
  gpu_hours: number
}

/** `grpo@1.4` for grpo 1.4.2: patch versions of a recipe are assumed to use about the same. */
export const lineOf = ({ name, version }: Pick<Recipe, 'name' | 'version'>): string =>
  `${name}@${version.split('.').slice(0, 2).join('.')}`

/** The team in whose pool a job would count, with the role of the submitter in it. */
export type TeamOfJob = { name: string; role: string | null; pool: Pool }

/** The input of all gates, loaded before the first one runs. */
export type AdmissionFacts = {
  spec: JobSpec
  caller: { username: string; role: 'admin' | 'operator' }
  /** The project of the spec; null before its first submit. */
  project: ProjectFacts | null
  /** The team that owns the project; null: none. */
  projectTeam: string | null
  /** The team of the spec, or else that of the project; null: neither, or there is no such team. */
  team: TeamOfJob | null
  /** The recipe of the lock: the exact version, or else the newest with its name. */
  recipe: Recipe | null
  /** The names in the catalogue. */
  recipes: readonly string[]
  /** The parameters validated by the recipe's schema; null without a recipe. */
  params: { value: Record<string, unknown>; errors: readonly ValidationError[] } | null
  /** Null without a recipe, or if none of its runs has succeeded yet. */
  past: PastRuns | null
  registries: readonly string[]
  quota: Quota
  /** GPUs held by the submitter's jobs. */
  held_gpus: number
  /** The profile of the spec, or the default one. */
  profile: Profile | null
  profiles: readonly string[]
  /** Every profile, with the GPUs of its series that nobody holds or waits for. */
  idle: readonly { profile: Profile; gpus: number }[]
  /** The executors of this installation. */
  executors: readonly string[]
  /** Faults of dangling references, including those to resources the submitter may not read. */
  dangling: readonly string[]
  /** Datasets that the submitter may see, but not use. */
  forbidden: readonly string[]
  /** Versions of datasets that should not be used any more. */
  deprecated: readonly string[]
  /** Versions of RL environments that should not be used any more. */
  deprecatedEnvironments: readonly string[]
  resolved: Resolved
  /** Null if the spec names none, or one that the submitter does not have. */
  package: PackageFacts | null
  /** All approval rules, and the labels of its datasets if a rule asks for them. */
  approvalRules: readonly ApprovalRule[]
  labels: readonly DatasetLabels[]
  /** How the control plane makes it serve; null for jobs that people submit. */
  serving: ReplicaServing | null
}

/** The requested hardware, with the recipe's defaults filled in. */
export function requestOf({ spec, recipe, profile }: AdmissionFacts) {
  const { resources } = spec.spec
  const gpus_per_node =
    resources.gpus_per_node ?? Math.ceil((recipe?.resources.min_gpus ?? 1) / resources.nodes)
  return {
    nodes: resources.nodes,
    gpus_per_node,
    gpus: resources.nodes * gpus_per_node,
    series: resources.series ?? profile?.series ?? '',
  }
}
