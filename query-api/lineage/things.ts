import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Person } from '../../auth/caller.ts'
import type { ArtifactTables } from '../../projector/artifacts/table.ts'
import type { DatasetTables } from '../../projector/datasets/table.ts'
import type { DeploymentTables } from '../../projector/deployments/table.ts'
import type { HubImportTables } from '../../projector/hub-imports/table.ts'
import type { JobTables } from '../../projector/jobs/table.ts'
import type { ModelTables } from '../../projector/models/table.ts'
import type { ReflowTables } from '../../projector/reflows/table.ts'
import type { RlEnvironmentTables } from '../../projector/rl-environments/table.ts'
import type { TrafficTables } from '../../projector/traffic/table.ts'
import type { LineageEdge, LineageNode, ThingType } from '../../schemas/lineage.ts'
import { type AccessTables, mayRead } from '../rules/access.ts'
import { maySee } from '../rules/dataset-access.ts'

export type Tables = AccessTables &
  ArtifactTables &
  DatasetTables &
  DeploymentTables &
  HubImportTables &
  JobTables &
  ModelTables &
  ReflowTables &
  RlEnvironmentTables &
  TrafficTables
export type Db = Kysely<Tables>

export type Refs = Readonly<Record<ThingType, readonly string[]>>

/** A thing with its direct origins: for a deployment, every artifact that it ever served. */
export type Thing = {
  type: ThingType
  ref: string
  name: string
  owner: string | null
  state: string | null
  created_at: Date | null
  origins: { kind: LineageEdge['kind']; type: ThingType; ref: string }[]
  traffic?: LineageNode['traffic']
}

/** References to the hub begin with their type already. */
export const idOf = ({ type, ref }: { type: ThingType; ref: string }): string =>
  type === 'hub' ? ref : `${type}:${ref}`

type Reading = { db: Db; caller: Person }

/**
 * Reads these things and the direct results of `from`, as far as the caller may read them; at most `limit` of each type, oldest first.
 * Artifacts that led to nothing are found by their own ids alone: a run may have thousands of checkpoints.
 */
export async function readThings(on: Reading, own: Refs, from: Refs, limit: number) {
  const all = await Promise.all([
    own.hub.map(modelOfHub),
    readRuns(on, own, from, limit),
    readArtifacts(on, own, from, limit),
    readDatasets(on, own, from, limit),
    readEnvironments(on, own),
    readModels(on, own, from, limit),
    readDeployments(on, own, from, limit),
  ])
  return all.flat()
}

/** Readers of the run see in its spec which model it started from; the import itself belongs to its owner alone. */
const modelOfHub = (ref: string): Thing => ({
  ...{ type: 'hub', ref, owner: null, state: null, created_at: null, origins: [] },
  // A commit is known by its first digits.
  name: ref.replace(/^hub:/, '').replace(/(@[0-9a-f]{8})[0-9a-f]{32}$/, '$1'),
})

type Read = (on: Reading, own: Refs, from: Refs, limit: number) => Promise<Thing[]>

const readRuns: Read = async ({ db, caller }, own, from, limit) => {
  const { rows } = await sql<{
    run_id: string
    name: string
    owner: string
    state: string
    created_at: Date
    retry_of: string | null
    clone_of: string | null
    init_from: string[]
    datasets: string[]
    environments: string[]
    model: string | null
    adapter: string | null
  }>`
    select r.run_id, coalesce(r.short_id || ' · ' || r.name, r.short_id) as name, r.owner, r.state, r.created_at,
           r.retry_of, r.clone_of, r.init_from, r.datasets,
           array(select u.ref from rl_environment_uses u where u.run_id = r.run_id order by u.ref) as environments,
           j.spec #>> '{spec,model,ref}' as model, j.spec #>> '{spec,model,adapter}' as adapter
      from runs r left join jobs j using (run_id)
     where r.deleted_at is null and ${mayRead(caller, 'r')} and r.run_id in (
             select run_id from runs where run_id = any(${own.run}::text[])
             union all select run_id from runs where retry_of = any(${from.run}::text[]) or clone_of = any(${from.run}::text[])
             union all select run_id from runs where init_from && ${from.artifact}::text[]
             union all select run_id from jobs where spec #>> '{spec,model,ref}' = any(${from.hub}::text[])
             union all select run_id from jobs where spec #>> '{spec,model,adapter}' = any(${from.hub}::text[])
             union all select run_id from runs where datasets && ${from.dataset}::text[] and datasets <> '{}'
             union all select run_id from rl_environment_uses where ref = any(${from.environment}::text[]))
     order by r.created_at, r.run_id limit ${limit}`.execute(db)
  return rows.map(({ run_id, retry_of, clone_of, init_from, model, adapter, ...row }) => ({
    ...withoutData(row),
    ...{ type: 'run' as const, ref: run_id },
    origins: [
      ...originsOf('retry', 'run', [retry_of]),
      ...originsOf('clone', 'run', [clone_of]),
      ...originsOf('init_from', 'artifact', init_from),
      ...originsOf('init_from', 'hub', [model, adapter]),
      ...originsOf('used', 'dataset', row.datasets),
      ...originsOf('used', 'environment', row.environments),
    ],
  }))
}

const withoutData = <R extends { datasets: string[]; environments: string[] }>({
  datasets: _,
  environments: __,
  ...row
}: R) => row

const readArtifacts: Read = async ({ db, caller }, own, from, limit) => {
  const { rows } = await sql<{
    artifact_id: string
    run_id: string
    kind: string
    step: number | null
    path: string
    status: string
    owner: string
    created_at: Date
  }>`
    select a.artifact_id, a.run_id, a.kind, a.step, a.path, a.status, r.owner, a.created_at
      from artifacts a join runs r using (run_id)
     where r.deleted_at is null and ${mayRead(caller, 'r')}
       and (a.artifact_id = any(${own.artifact}::text[])
            or a.run_id = any(${from.run}::text[])
               and (exists (select from runs u where u.init_from && array[a.artifact_id])
                    or exists (select from model_versions m where m.artifact_id = a.artifact_id)
                    or exists (select from deployment_revisions v where v.source ->> 'artifact_id' = a.artifact_id)))
     order by a.created_at, a.artifact_id limit ${limit}`.execute(db)
  return rows.map(({ artifact_id, run_id, kind, step, path, status, ...row }) => ({
    ...row,
    ...{ type: 'artifact' as const, ref: artifact_id, state: status },
    name: step === null ? (path.split('/').at(-1) ?? kind) : `${kind} · step ${step}`,
    origins: originsOf('made', 'run', [run_id]),
  }))
}

const readDatasets: Read = async ({ db, caller }, own, from, limit) => {
  const { rows } = await sql<{
    ref: string
    owner: string
    state: string
    created_at: Date
    parents: string[]
    deployments: string[]
    sampled: string[]
  }>`
    select v.ref, v.owner, v.state, v.created_at, v.parents,
           array(${reflowOrigins('deployment_id')}) as deployments, array(${reflowOrigins('run_id')}) as sampled
      from dataset_versions v join datasets d using (owner, name)
     where ${maySee(caller)} and (v.ref = any(${own.dataset}::text[]) or v.parents && ${from.dataset}::text[]
            or v.ref in (select f.ref from reflow_firings f join reflows w using (reflow_id)
                          where w.source ->> 'deployment_id' = any(${from.deployment}::text[])
                             or w.source ->> 'run_id' = any(${from.run}::text[])))
     order by v.created_at, v.ref limit ${limit}`.execute(db)
  return rows.map(({ parents, deployments, sampled, ...row }) => ({
    ...row,
    ...{ type: 'dataset' as const, name: row.ref },
    origins: [
      ...originsOf('derived', 'dataset', parents),
      ...originsOf('reflow', 'deployment', deployments),
      ...originsOf('reflow', 'run', sampled),
    ],
  }))
}

/** Versions of RL environments, which come from nothing else. */
const readEnvironments = async ({ db, caller }: Reading, own: Refs): Promise<Thing[]> => {
  const { rows } = await sql<{ ref: string; owner: string; state: string; created_at: Date }>`
    select v.ref, v.owner, v.state, v.created_at
      from rl_environment_versions v join rl_environments e using (owner, name)
     where (${caller.role === 'admin'} or e.owner = ${caller.username} or e.visibility = 'public')
       and v.ref = any(${own.environment}::text[])
     order by v.created_at, v.ref`.execute(db)
  return rows.map(row => ({
    ...row,
    ...{ type: 'environment' as const, name: row.ref, origins: [] },
  }))
}

/** What the reflows took from that made version `v`, as far as the caller may read the reflows. */
const reflowOrigins = (field: 'deployment_id' | 'run_id') => sql`
  select distinct w.source ->> ${sql.lit(field)} from reflow_firings f join reflows w using (reflow_id)
   where f.ref = v.ref and w.source ->> ${sql.lit(field)} is not null`

const readModels: Read = async ({ db, caller }, own, from, limit) => {
  const { rows } = await sql<{
    ref: string
    owner: string
    archived: boolean
    created_at: Date
    artifact_id: string
  }>`
    select v.model || '@' || v.version as ref, v.created_by as owner, v.archived, v.created_at, v.artifact_id
      from model_versions v join models m using (model)
     where m.deleted_at is null and ${mayRead(caller, 'm')}
       and (v.artifact_id = any(${from.artifact}::text[])
            or (v.model, v.version) in (${pairs(own.model)}))
     order by v.created_at, v.model, v.version limit ${limit}`.execute(db)
  return rows.map(({ archived, artifact_id, ...row }) => ({
    ...row,
    ...{ type: 'model' as const, name: row.ref, state: archived ? 'archived' : 'ready' },
    origins: originsOf('registered', 'artifact', [artifact_id]),
  }))
}

/** `name@version`, taken apart. */
const pairs = (refs: readonly string[]): RawBuilder<unknown> => sql`
  select split_part(ref, '@', 1), split_part(ref, '@', 2)::int from unnest(${refs}::text[]) asked (ref)`

const readDeployments: Read = async ({ db, caller }, own, from, limit) => {
  const { rows } = await sql<{
    deployment_id: string
    name: string
    owner: string
    state: string
    created_at: Date
    artifacts: string[]
    models: string[]
    requests: number
    prompt_tokens: number
    completion_tokens: number
  }>`
    select d.deployment_id, d.name, d.owner, d.state, d.created_at,
           array(select distinct v.source ->> 'artifact_id' from deployment_revisions v
                  where v.deployment_id = d.deployment_id and v.source ->> 'artifact_id' is not null) as artifacts,
           array(select distinct v.source ->> 'hub_ref' from deployment_revisions v
                  where v.deployment_id = d.deployment_id and v.source ->> 'hub_ref' is not null) as models,
           used.*
      from deployments d cross join lateral (
        select coalesce(sum(t.requests), 0)::float8 as requests, coalesce(sum(t.prompt_tokens), 0)::float8 as prompt_tokens,
               coalesce(sum(t.completion_tokens), 0)::float8 as completion_tokens
          from traffic_daily t where t.deployment_id = d.deployment_id) used
     where d.state <> 'deleted' and ${mayRead(caller, 'd')}
       and (d.deployment_id = any(${own.deployment}::text[])
            or d.deployment_id in (select v.deployment_id from deployment_revisions v
                                    where v.source ->> 'artifact_id' = any(${from.artifact}::text[])
                                       or v.source ->> 'hub_ref' = any(${from.hub}::text[])))
     order by d.created_at, d.deployment_id limit ${limit}`.execute(db)
  return rows.map(
    ({ deployment_id, artifacts, models, requests, prompt_tokens, completion_tokens, ...row }) => ({
      ...row,
      ...{ type: 'deployment' as const, ref: deployment_id },
      traffic: { requests, prompt_tokens, completion_tokens },
      origins: [
        ...originsOf('served', 'artifact', artifacts),
        ...originsOf('served', 'hub', models),
      ],
    }),
  )
}

const originsOf = (
  kind: LineageEdge['kind'],
  type: ThingType,
  refs: readonly (string | null)[],
): Thing['origins'] => refs.flatMap(ref => (ref === null ? [] : [{ kind, type, ref }]))
