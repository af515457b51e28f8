import { sql } from 'kysely'
import type { ModelVersion } from '../../schemas/models.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'
import type { Db } from './find.ts'

/** The most of each kind that is shown. */
const most = 100

/** What a version came from, what that scored, and where it is served. */
export async function lineageOf(db: Db, { source: { artifact_id, run_id } }: ModelVersion) {
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
    deployments: await deploymentsOf(db, artifact_id),
  }
}

async function benchmarksOf(db: Db, run_id: string) {
  const { rows } = await sql<{ benchmark: string; recorded_at: Date; result: object }>`
    select distinct on (result_id) benchmark, recorded_at, result from run_benchmarks
     where run_id = ${run_id} order by result_id, revision desc limit ${most}`.execute(db)
  return rows.map(row => ({ ...row, recorded_at: toTimestamp(row.recorded_at) }))
}

async function deploymentsOf(db: Db, artifact_id: string) {
  const { rows } = await sql<{
    deployment_id: string
    name: string
    revision_id: string
    is_promoted: boolean
  }>`
    select d.deployment_id, d.name, r.revision_id,
           d.promoted_revision_id is not distinct from r.revision_id as is_promoted
      from deployment_revisions r join deployments d using (deployment_id)
     where r.source ->> 'artifact_id' = ${artifact_id} and d.state <> 'deleted'
     order by r.created_at desc, r.revision_id limit ${most}`.execute(db)
  return rows
}
