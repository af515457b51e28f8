import { sql } from 'kysely'
import type { Person } from '../../auth/caller.ts'
import type { RevisionState } from '../../schemas/deployments/deployments.ts'
import type { ModelVersion } from '../../schemas/models.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'
import { mayRead } from '../rules/access.ts'
import type { Db } from './find.ts'

/** Maximum entries per kind. */
const most = 100

/** The lineage of a version: its source with its scores, where it is served, and how much it is used. */
export async function lineageOf(
  db: Db,
  caller: Person,
  { source: { artifact_id, run_id } }: ModelVersion,
) {
  const run = await db
    .selectFrom('runs')
    .select(['run_id', 'name', 'owner'])
    .where('run_id', '=', run_id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  const artifact = await db
    .selectFrom('artifacts')
    .select(['kind', 'path', 'sha256'])
    .where('artifact_id', '=', artifact_id)
    .executeTakeFirst()
  return {
    run: run ?? null,
    artifact: artifact ?? null,
    benchmarks: run ? await benchmarksOf(db, run_id) : [],
    deployments: await deploymentsOf(db, caller, artifact_id),
  }
}

async function benchmarksOf(db: Db, run_id: string) {
  const { rows } = await sql<{ benchmark: string; recorded_at: Date; result: object }>`
    select distinct on (result_id) benchmark, recorded_at, result from run_benchmarks
     where run_id = ${run_id} order by result_id, revision desc limit ${most}`.execute(db)
  return rows.map(row => ({ ...row, recorded_at: toTimestamp(row.recorded_at) }))
}

async function deploymentsOf(db: Db, caller: Person, artifact_id: string) {
  const { rows } = await sql<{
    deployment_id: string
    name: string
    revision_id: string
    is_promoted: boolean
    state: RevisionState
    requests: number
    errors: number
    prompt_tokens: number
    completion_tokens: number
  }>`
    select d.deployment_id, d.name, r.revision_id,
           d.promoted_revision_id is not distinct from r.revision_id as is_promoted, r.state, used.*
      from deployment_revisions r join deployments d using (deployment_id)
     cross join lateral (
       select coalesce(sum(t.requests), 0)::float8 as requests, coalesce(sum(t.errors), 0)::float8 as errors,
              coalesce(sum(t.prompt_tokens), 0)::float8 as prompt_tokens,
              coalesce(sum(t.completion_tokens), 0)::float8 as completion_tokens
         from traffic_daily t where t.deployment_id = r.deployment_id and t.revision_id = r.revision_id) used
     where r.source ->> 'artifact_id' = ${artifact_id} and d.state <> 'deleted' and ${mayRead(caller, 'd')}
     order by r.created_at desc, r.revision_id limit ${most}`.execute(db)
  return rows
}
