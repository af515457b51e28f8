import type { Pool } from 'pg'
import { type RubricEvent, rubricAt } from '../../../events/rubrics.ts'
import { Refusal } from '../../../platform/refusal.ts'
import { hubReference, parseHubReference } from '../../../schemas/hub-reference.ts'
import type { Resolved } from '../../../schemas/jobs/jobs.ts'
import type { JobSpec } from '../../../schemas/jobs/jobspec.ts'
import { toTimestamp } from '../../../schemas/timestamp.ts'
import type { EventStore } from '../../commit/event-store.ts'
import type { Deps } from '../../deps.ts'
import { findBenchmark } from '../../rules/benchmark-reference.ts'
import { findArtifact } from '../../rules/find-artifact.ts'
import { findModel, resolveModel } from '../../rules/model-reference.ts'
import { pinForPerson } from '../../rules/pinned-model.ts'
import { pushFault } from '../../rules/push-to-hub.ts'
import { missingSecrets } from '../../rules/secret-values.ts'
import { resolveDatasets } from './datasets.ts'
import { resolveEnvironments } from './environments.ts'

export type Lookup = Pick<Deps, 'sealing' | 'hub'> & {
  pool: Pool
  store: EventStore
  caller: { username: string; role: 'admin' | 'operator' }
}

/** `forbidden`: datasets (`owner/name`) that the submitter may see, but not use; `deprecated`: versions (`owner/name@3`). */
export type Found = {
  dangling: string[]
  forbidden: string[]
  deprecated: string[]
  deprecatedEnvironments: string[]
  resolved: Resolved
  /** The model of the job as the stored spec names it, with commits and versions instead of names that may move. */
  model: JobSpec['spec']['model']
  /** The RL environments with their digests, as the stored spec names them. */
  environments: JobSpec['spec']['environments']
}

/**
 * Resolves the spec's references once, so that moving an alias or "latest" later does not affect the job.
 * Resources that the submitter may not read look missing.
 */
export async function resolveReferences(spec: JobSpec, lookup: Lookup): Promise<Found> {
  const work = spec.spec
  const dangling = unknownKinds(work)
  for (const { ref } of work.rubrics)
    if (!(await rubricExists(ref, lookup))) dangling.push(`No such rubric: ${ref}`)
  for (const { ref } of work.benchmarks) {
    const benchmark = await findBenchmark(lookup.store, ref)
    if (typeof benchmark === 'string') dangling.push(benchmark)
  }
  dangling.push(...(await secretFaults(work, lookup)))
  const fault = await registrationFault(spec, lookup)
  if (fault !== null) dangling.push(fault)
  const { push_to_hub: repo } = work.outputs
  const unsent = repo === null ? null : await pushFault(lookup, { repo, ...lookup.caller })
  if (unsent !== null) dangling.push(`outputs.push_to_hub: ${unsent.why}`)
  const model = await resolveModelOf(work, lookup)
  dangling.push(...model.faults)
  const init_from = work.init_from ? await resolveInit(work.init_from, lookup) : null
  if (typeof init_from === 'string') dangling.push(init_from)
  const { faults, forbidden, deprecated, datasets } = await resolveDatasets(work.datasets, lookup)
  const played = await resolveEnvironments(work, lookup)
  return {
    dangling: [...dangling, ...faults, ...played.faults],
    forbidden,
    deprecated,
    deprecatedEnvironments: played.deprecated,
    model: model.pinned,
    environments: played.environments,
    resolved: { init_from: typeof init_from === 'string' ? null : init_from, datasets },
  }
}

/** Resource kinds that do not exist yet; every reference to one dangles. */
function unknownKinds(work: JobSpec['spec']): string[] {
  const named = (kind: string, refs: readonly string[]) =>
    refs.map(ref => `No such ${kind}: ${ref}`)
  return [
    ...named('model', work.model && !isOfHub(work.model.ref) ? [work.model.ref] : []),
    ...named('plan', work.approval.plan_id ? [work.approval.plan_id] : []),
  ]
}

const isOfHub = (ref: string) => ref.startsWith('hub:')

/** The model of the hub and its adapter, which is another model of it. */
async function resolveModelOf({ model }: JobSpec['spec'], lookup: Lookup) {
  if (!model) return { pinned: null, faults: [] }
  const ref = isOfHub(model.ref) ? await resolveHub(model.ref, lookup) : model.ref
  const adapter = model.adapter === null ? null : await resolveHub(model.adapter, lookup)
  const faults = [ref, adapter].flatMap(one => (typeof one === 'object' && one ? one.fault : []))
  const text = (one: typeof adapter) => (typeof one === 'string' ? one : null)
  return { pinned: { ref: text(ref) ?? model.ref, adapter: text(adapter) }, faults }
}

type Fault = { fault: string }

/** Asks the hub, with the submitter's own token, for the commit that the reference names now. */
async function resolveHub(ref: string, lookup: Lookup): Promise<string | Fault> {
  const asked = parseHubReference(ref)
  if (!asked) return { fault: `${ref} is not written hub:<org>/<name>[@<revision>]` }
  const found = await pinForPerson(lookup, { ...asked, username: lookup.caller.username })
  return found.is === 'refused'
    ? { fault: found.why }
    : hubReference({ repo: asked.repo, commit: found.commit })
}

/** Only the submitter's own secrets exist for a job. */
async function secretFaults(
  { env, secrets }: JobSpec['spec'],
  { pool, caller }: Lookup,
): Promise<string[]> {
  const missing = await missingSecrets(pool, caller.username, secrets)
  return [
    ...missing.map(
      name =>
        `You have no secret named ${name}; set it (forge secret set ${name}), or correct spec.secrets`,
    ),
    ...secrets
      .filter(name => name in env)
      .map(name => `${name} is in both spec.env and spec.secrets; keep it in one of them`),
  ]
}

/** `owner/name`, or `owner/name@version`. */
async function rubricExists(ref: string, { store, caller }: Lookup): Promise<boolean> {
  const [, owner, name, version] = /^([^/@]+)\/([^/@]+)(?:@(\d{1,9}))?$/.exec(ref) ?? []
  if (!owner || !name) return false
  const { events } = await store.load<RubricEvent>(rubricAt({ owner, name }).stream)
  const newest = events.at(-1)?.data
  if (!newest || (version !== undefined && Number(version) > newest.version)) return false
  return newest.visibility === 'public' || owner === caller.username || caller.role === 'admin'
}

/**
 * The version is created when the run ends; the run must be in the model's project, and its submitter must be allowed to add
 * versions now.
 */
async function registrationFault(
  { metadata, spec }: JobSpec,
  { pool, caller }: Lookup,
): Promise<string | null> {
  const { register_model: name } = spec.outputs
  if (name === null) return null
  const model = await findModel(pool, name, caller)
  if (model === null)
    return `No such registered model: ${name}; create it first, or correct outputs.register_model`
  if (model.project !== metadata.project)
    return `The model ${name} belongs to project ${model.project}, so no run of ${metadata.project} can become a version of it`
  return model.may('submit')
    ? null
    : `Only members of project ${model.project} may add versions to the model ${name}`
}

type InitFrom = NonNullable<JobSpec['spec']['init_from']>

/** The artifact, or the fault of the reference. */
async function resolveInitFrom(
  from: InitFrom,
  lookup: Lookup,
): Promise<NonNullable<Resolved['init_from']> | string> {
  const { artifact_id, run_id, select } = from
  if (artifact_id === null && run_id === null)
    return 'init_from names neither an artifact_id nor a run_id'
  const { pool, caller } = lookup
  const row = await findArtifact(pool, { artifact_id, run_id, select }, caller)
  if (row) {
    const { deleted_at, path } = row
    if (deleted_at === null) return { artifact_id: row.artifact_id, run_id: row.run_id, path }
    return `The artifact ${artifact_id} was deleted at ${toTimestamp(deleted_at)}; nothing can start from it any more`
  }
  if (artifact_id !== null)
    return `No such artifact: ${artifact_id}${run_id === null ? '' : ` of ${run_id}`}`
  const which = typeof select === 'object' && select ? `step ${select.step}` : (select ?? 'latest')
  return `Run ${run_id} has no artifact to start from (${which})`
}

/** The version of a model that the reference names now: moving the alias later does not affect the job. */
async function resolveInit(from: InitFrom, lookup: Lookup) {
  const { model, artifact_id, run_id } = from
  if (model === null) return resolveInitFrom(from, lookup)
  if (artifact_id !== null || run_id !== null)
    return 'init_from names both a model and an artifact or run; name only one of them'
  const found = await resolveModel(lookup.pool, model, lookup.caller).catch((error: unknown) => {
    if (error instanceof Refusal) return error.detail
    throw error
  })
  if (typeof found === 'string') return `init_from.model: ${found}`
  return resolveInitFrom({ ...from, artifact_id: found.artifact_id, select: null }, lookup)
}
