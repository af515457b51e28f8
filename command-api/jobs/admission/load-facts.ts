import type { Pool } from 'pg'
import { type CatalogueEntry, findRecipe } from '../../../recipes/catalogue.ts'
import type { JobSpec } from '../../../schemas/jobspec.ts'
import type { Profile } from '../../../schemas/profiles.ts'
import { defaultQuota } from '../../../schemas/quotas.ts'
import type { AdmissionFacts } from './facts.ts'
import { type Lookup, resolveReferences } from './references.ts'

export type FactSources = Lookup & { catalogue: readonly CatalogueEntry[] }

/** Loads the facts that the gates need for a spec. */
export async function loadFacts(spec: JobSpec, from: FactSources): Promise<AdmissionFacts> {
  const { pool, caller, catalogue } = from
  const { name, version } = spec.lock
  const entry = findRecipe(catalogue, name, version) ?? findRecipe(catalogue, name)
  const [stored, references] = await Promise.all([
    readStored(pool, caller.username),
    resolveReferences(spec, from),
  ])
  const wanted = spec.spec.resources.profile
  return {
    spec,
    caller,
    recipe: entry?.recipe ?? null,
    recipes: [...new Set(catalogue.map(({ recipe }) => recipe.name))],
    params: entry ? checkParams(entry, spec.spec.params) : null,
    registries: stored.registries,
    quota: stored.quota,
    held_gpus: stored.held_gpus,
    profile: profileNamed(stored.profiles, wanted),
    profiles: stored.profiles.map(profile => profile.name),
    ...references,
  }
}

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

type Stored = Pick<AdmissionFacts, 'quota' | 'held_gpus'> & {
  registries: string[]
  profiles: Profile[]
}

/** One query for everything, because admission runs thousands of times a second. */
async function readStored(pool: Pool, username: string): Promise<Stored> {
  const { rows } = await pool.query({
    name: 'admission_facts',
    text: `select (select to_jsonb(q) - '{username,held_jobs,held_series}'::text[]
                     from write.quota q where username = $1) as quota,
                  (select coalesce(jsonb_agg(prefix order by prefix), '[]') from write.image_registry) as registries,
                  (select coalesce(jsonb_agg(to_jsonb(p) || jsonb_build_object(
                            'price_per_gpu_hour', p.price_per_gpu_hour::text) order by name), '[]')
                     from write.profile p) as profiles`,
    values: [username],
  })
  const { quota, ...stored } = rows[0] ?? {}
  if (!quota) return { quota: defaultQuota, held_gpus: 0, ...stored }
  const { set_at, held_gpus, ...limits } = quota
  return { quota: { ...limits, default: set_at === null }, held_gpus, ...stored }
}
