import type { Pool } from 'pg'
import type { QueueBook } from '../../../events/calculations/queue-picture.ts'
import { inBatches } from '../../../platform/remembered.ts'
import { type CatalogueEntry, findRecipe } from '../../../recipes/catalogue.ts'
import type { ApprovalRule } from '../../../schemas/approvals.ts'
import type { ReplicaServing } from '../../../schemas/deployments/replicas.ts'
import type { Resolved } from '../../../schemas/jobs/jobs.ts'
import type { JobSpec } from '../../../schemas/jobs/jobspec.ts'
import type { Profile } from '../../../schemas/profiles.ts'
import { defaultQuota, type Quota } from '../../../schemas/quotas.ts'
import { isTemplate } from '../../../schemas/recipes.ts'
import type { EventStore } from '../../commit/event-store.ts'
import type { Deps } from '../../deps.ts'
import { rulesAsJson } from '../../rules/approval-requests.ts'
import { datasetLabels } from '../../rules/dataset-labels.ts'
import { projectFacts } from '../../rules/short-id.ts'
import { teamOfJob, teamOfProject } from '../../rules/team-pool.ts'
import type { ReadPastRuns } from '../past-runs.ts'
import type { AdmissionFacts } from './facts.ts'
import { findPackage, withPackage } from './package.ts'
import { type Lookup, resolveReferences } from './references.ts'
import { volumeFaults } from './volumes.ts'

/** All recipes; up to a second old if they include this one. */
export type Recipes = { including(lock: JobSpec['lock']): Promise<readonly CatalogueEntry[]> }

export type FactSources = Lookup & {
  config: Pick<Deps['config'], 'slurmUrl'>
  catalogue: Recipes
  queue: Pick<QueueBook, 'idleGpus'>
  readStored: ReadStored
  readPastRuns: ReadPastRuns
  /** The job that this one repeats, which the caller may control. */
  retryOf: string | null
  /** Null for jobs that people submit. */
  serving: ReplicaServing | null
}

/** Loads the facts that the gates need for a spec. */
export async function loadFacts(spec: JobSpec, from: FactSources): Promise<AdmissionFacts> {
  const { pool, caller, readStored, readPastRuns } = from
  const { name, version } = spec.lock
  const catalogue = await from.catalogue.including(spec.lock)
  const entry = findRecipe(catalogue, name, version) ?? findRecipe(catalogue, name)
  const [stored, found, packaged, past, idle] = await Promise.all([
    readStored({ ...spec.metadata, username: caller.username }),
    resolveReferences(spec, from),
    findPackage(pool, spec.spec.source, { username: caller.username, retryOf: from.retryOf }),
    entry && readPastRuns(entry.recipe),
    // Only a warning needs them; the gates decide without them.
    from.queue.idleGpus().catch(() => new Map<string, number>()),
  ])
  const { model, environments, ...references } = found
  const profile = profileNamed(stored.profiles, spec.spec.resources.profile)
  const labels = await labelsFor(stored.approvalRules, references.resolved, from.store)
  const volumes = await volumeFaults(pool, spec, { owner: caller.username, profile })
  return {
    spec: withEnvironments(withModel(withPackage(spec, packaged.package), model), environments),
    caller,
    recipe: entry?.recipe ?? null,
    recipes: [
      ...new Set(catalogue.flatMap(({ recipe }) => (isTemplate(recipe) ? [] : recipe.name))),
    ],
    params: entry ? checkParams(entry, spec.spec.params) : null,
    past,
    registries: stored.registries,
    project: stored.project,
    projectTeam: stored.projectTeam,
    team: stored.team,
    quota: stored.quota,
    held_gpus: stored.held_gpus,
    profile,
    profiles: stored.profiles.map(profile => profile.name),
    idle: stored.profiles.map(profile => ({ profile, gpus: idle.get(profile.name) ?? 0 })),
    executors: from.config.slurmUrl === null ? ['local'] : ['local', 'slurm'],
    ...references,
    dangling: [...references.dangling, ...volumes, ...packaged.dangling],
    package: packaged.package,
    approvalRules: stored.approvalRules,
    labels,
    serving: from.serving,
  }
}

/** Only some rules ask for them. */
function labelsFor(rules: readonly ApprovalRule[], { datasets }: Resolved, store: EventStore) {
  const isAsked = rules.some(
    ({ when }) => when.on === 'reflow_data' || when.on === 'dataset_license',
  )
  return isAsked
    ? datasetLabels(
        store,
        datasets.map(({ ref }) => ref),
      )
    : []
}

/** At the commits that were found, so that a moving branch does not affect the job. */
const withModel = (spec: JobSpec, model: JobSpec['spec']['model']): JobSpec => ({
  ...spec,
  spec: { ...spec.spec, model },
})

/** With their digests, so that the job names the very files that it was admitted with. */
const withEnvironments = (
  spec: JobSpec,
  environments: JobSpec['spec']['environments'],
): JobSpec => ({ ...spec, spec: { ...spec.spec, environments } })

/** Without a name, the local machine's profile, or else the only one. */
function profileNamed(profiles: readonly Profile[], wanted: string | null): Profile | null {
  const named = profiles.find(({ name }) => name === (wanted ?? 'local'))
  if (named || wanted !== null) return named ?? null
  return profiles.length === 1 ? (profiles[0] ?? null) : null
}

function checkParams(entry: CatalogueEntry, params: Record<string, unknown>) {
  const checked = entry.resolveParams(params)
  return checked.ok ? { value: checked.value, errors: [] } : { value: {}, errors: checked.errors }
}

type Asking = { username: string; project: string; team: string | null }

type Stored = Pick<AdmissionFacts, 'project' | 'projectTeam' | 'team' | 'quota' | 'held_gpus'> & {
  registries: string[]
  profiles: Profile[]
  approvalRules: ApprovalRule[]
}

export type ReadStored = (asking: Asking) => Promise<Stored>

/**
 * One query loads all facts, for all submits that arrive while the previous query is running: admission runs a thousand times a
 * second. Nothing is cached, because prices, quotas and members must be current.
 */
export function storedFacts(pool: Pool): ReadStored {
  const find = inBatches(keys => readAllStored(pool, keys))
  return async asking => {
    const stored = await find(JSON.stringify([asking.username, asking.project, asking.team]))
    if (!stored) throw new Error('the facts of a submit were not read')
    return stored
  }
}

async function readAllStored(pool: Pool, keys: readonly string[]): Promise<Map<string, Stored>> {
  const asked = keys.map(key => JSON.parse(key) as [string, string, string | null])
  const { rows } = await pool.query({
    name: 'admission_facts',
    text: `select (select coalesce(jsonb_agg(prefix order by prefix), '[]') from write.image_registry) as registries,
                  (select coalesce(jsonb_agg(to_jsonb(p) || jsonb_build_object(
                            'price_per_gpu_hour', p.price_per_gpu_hour::text) order by name), '[]')
                     from write.profile p) as profiles,
                  ${rulesAsJson} as rules,
                  (select jsonb_agg(jsonb_build_object(
                            'project', (select ${projectFacts('asked.username')} from write.resource p
                                         where p.kind = 'project' and p.id = asked.project),
                            'projectTeam', ${teamOfProject('asked.project')},
                            'team', ${teamOfJob({ team: 'asked.team', project: 'asked.project', username: 'asked.username' })},
                            'quota', (select to_jsonb(q) - '{username,held_jobs,held_series}'::text[]
                                        from write.quota q where q.username = asked.username)) order by asked.nth)
                     from jsonb_to_recordset($1) as asked (username text, project text, team text, nth int)) as answers`,
    // The planner's estimate for JSON does not depend on its length, so the prepared plan is kept; an array would be planned each time.
    values: [
      JSON.stringify(
        asked.map(([username, project, team], nth) => ({ username, project, team, nth })),
      ),
    ],
  })
  const { registries, profiles, rules: approvalRules, answers } = rows[0] ?? {}
  return new Map(
    keys.map((key, index) => {
      const { quota, ...known } = answers[index]
      return [key, { ...known, ...quotaOf(quota), registries, profiles, approvalRules }]
    }),
  )
}

type QuotaRow = Omit<Quota, 'default'> & { set_at: string | null; held_gpus: number }

function quotaOf(row: QuotaRow | null): Pick<Stored, 'quota' | 'held_gpus'> {
  if (!row) return { quota: defaultQuota, held_gpus: 0 }
  const { set_at, held_gpus, ...limits } = row
  return { quota: { ...limits, default: set_at === null }, held_gpus }
}
