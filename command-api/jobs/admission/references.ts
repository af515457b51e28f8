import type { Pool } from 'pg'
import { type RubricEvent, rubricAt } from '../../../events/rubrics.ts'
import type { Resolved } from '../../../schemas/jobs.ts'
import type { JobSpec } from '../../../schemas/jobspec.ts'
import { toTimestamp } from '../../../schemas/timestamp.ts'
import type { EventStore } from '../../event-store.ts'

export type Lookup = {
  pool: Pool
  store: EventStore
  caller: { username: string; role: 'admin' | 'operator' }
}

export type Found = { dangling: string[]; resolved: Resolved }

/**
 * Resolves the spec's references once, so that an alias or "latest" that moves later does not affect the job.
 * Resources that the submitter may not read look missing.
 */
export async function resolveReferences(spec: JobSpec, lookup: Lookup): Promise<Found> {
  const work = spec.spec
  const dangling = unknownKinds(work)
  for (const { ref } of work.rubrics)
    if (!(await rubricExists(ref, lookup))) dangling.push(`No such rubric: ${ref}`)
  const init_from = work.init_from ? await resolveInitFrom(work.init_from, lookup) : null
  if (typeof init_from === 'string') dangling.push(init_from)
  return {
    dangling,
    resolved: { init_from: typeof init_from === 'string' ? null : init_from, datasets: [] },
  }
}

/** Resource kinds that do not exist yet; every reference to one dangles. */
function unknownKinds(work: JobSpec['spec']): string[] {
  const named = (kind: string, refs: readonly string[]) =>
    refs.map(ref => `No such ${kind}: ${ref}`)
  return [
    ...named(
      'dataset',
      work.datasets.map(({ ref }) => ref),
    ),
    ...named(
      'environment',
      work.environments.map(({ ref }) => ref),
    ),
    ...named(
      'benchmark',
      work.benchmarks.map(({ ref }) => ref),
    ),
    ...named(
      'volume',
      work.volumes.map(({ name }) => name),
    ),
    ...named('secret', work.secrets),
    ...named('model', work.model ? [work.model.ref] : []),
    ...named('registered model', work.outputs.register_model ? [work.outputs.register_model] : []),
    ...named('model hub', work.outputs.push_to_hub ? [work.outputs.push_to_hub] : []),
    ...named('plan', work.approval.plan_id ? [work.approval.plan_id] : []),
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

type InitFrom = NonNullable<JobSpec['spec']['init_from']>

/** The artifact, or the fault of the reference. */
async function resolveInitFrom(
  from: InitFrom,
  lookup: Lookup,
): Promise<NonNullable<Resolved['init_from']> | string> {
  const { artifact_id, run_id, model, select } = from
  if (model !== null) return `No such registered model: ${model}`
  if (artifact_id === null && run_id === null)
    return 'init_from names neither an artifact_id nor a run_id'
  const row = await findArtifact(from, lookup)
  if (row) {
    const { deleted_at, ...found } = row
    if (deleted_at === null) return found
    return `The artifact ${artifact_id} was deleted at ${toTimestamp(deleted_at)}; nothing begins from it any more`
  }
  if (artifact_id !== null)
    return `No such artifact: ${artifact_id}${run_id === null ? '' : ` of ${run_id}`}`
  const which = typeof select === 'object' && select ? `step ${select.step}` : (select ?? 'latest')
  return `Run ${run_id} has no artifact to start from (${which})`
}

/**
 * `latest` is the highest step (the newest for equal steps); `best` has the best registered value of the run's
 * `checkpoints.metric`. A deleted one is found by its id alone.
 */
async function findArtifact(
  { artifact_id, run_id, select }: InitFrom,
  { pool, caller }: Lookup,
): Promise<(NonNullable<Resolved['init_from']> & { deleted_at: Date | null }) | null> {
  const { rows } = await pool.query({
    name: 'init_from',
    text: `select a.artifact_id, a.run_id, a.path, a.deleted_at
             from write.artifact a join write.run_state r using (run_id)
             left join write.job_state j using (run_id)
             cross join lateral (select ${score} as score) scored
            where a.kind <> 'eval_report' and not a.is_missing and r.deleted_at is null
              and (a.deleted_at is null or $1::text is not null)
              and ($1::text is null or a.artifact_id = $1)
              and ($2::text is null or r.run_id = $2 or j.short_id = $2)
              and ($3::bigint is null or a.step = $3)
              and ($4::text is distinct from 'best' or score is not null)
              and ($5 or r.owner = $6 or exists (
                    select from write.project p where p.name = r.project
                       and (p.visibility = 'internal' or p.owner = $6 or exists (
                         select from write.project_member where project = p.name and username = $6))))
            order by case when $4 = 'best' then score end desc nulls last, a.step desc, a.artifact_id desc
            limit 1`,
    values: [
      artifact_id,
      run_id,
      typeof select === 'object' && select ? select.step : null,
      typeof select === 'string' ? select : null,
      caller.role === 'admin',
      caller.username,
    ],
  })
  return rows[0] ?? null
}

/** SQL: the registered value of artifact `a` for its run's `checkpoints.metric`; higher is better. */
const score = `(
  select (told.data -> 'metrics' ->> (metric ->> 'key'))::float8
         * case metric ->> 'goal' when 'min' then -1 else 1 end
    from write.event admitted
    cross join lateral (select admitted.data #> '{spec,spec,checkpoints,metric}' as metric) wanted
    join write.event told on told.stream = 'artifact-' || a.artifact_id
   where admitted.stream = 'job-' || a.run_id and admitted.stream_version = 1
     and jsonb_typeof(told.data -> 'metrics' -> (metric ->> 'key')) = 'number'
   order by told.stream_version desc limit 1)`
