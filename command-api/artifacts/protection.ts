import type { Pool } from 'pg'
import type { Person } from '../../auth/caller.ts'
import type { protections } from '../../schemas/artifacts.ts'
import type { Transaction } from '../event-store.ts'

export type Reference = {
  kind: (typeof protections)[number]
  run_id: string
  /** Of `model`: the version, as `name@3`; of `deployment`: its name. */
  short_id: string
  artifact_id: string
}

/** Ones that the caller may not read are counted, not named. */
export type Protection = { references: Reference[]; references_total: number }

/** Maximum number of names per artifact. */
const named = 20

type Row = Reference & { may_read: boolean; total: string }

/**
 * What keeps these artifacts from being deleted: versions of models, deployments that serve them, runs that began from them, as for the removal of runs
 * (`runs/references.ts`), and attempts of a job that has not ended, which continue from them. To rely on it, lock the
 * rows of the artifacts first: whoever begins from one, serves it, or makes it a version, locks it, too.
 */
export async function protectionsOf(
  db: Pool | Transaction,
  artifactIds: readonly string[],
  caller: Pick<Person, 'username' | 'role'>,
): Promise<Map<string, Protection>> {
  const { rows } = await db.query<Row>({
    name: 'protections_of_artifacts',
    text: `with asked as (select * from write.artifact where artifact_id = any($1)),
                protecting as (
                  select 'init_from' as kind, a.artifact_id, j.run_id, j.short_id, j.owner, j.project
                    from asked a join write.job_state j on j.init_from = a.artifact_id
                   -- The job of an engine is none of these: the deployment needs the artifact, for as long as it serves it.
                   where j.run_id <> a.run_id and j.serving is null
                  union all
                  select 'resume', a.artifact_id, j.run_id, j.short_id, j.owner, j.project
                    from asked a join write.job_state j using (run_id) join write.run_state r using (run_id)
                   where r.ended_at is null and a.artifact_id in (
                           j.resume_from,
                           (select artifact_id from write.artifact c
                             where c.run_id = j.run_id and c.kind = 'checkpoint' and not c.is_missing
                               and c.deleted_at is null
                             order by c.step desc, c.artifact_id desc limit 1))
                  union all
                  select 'deployment', a.artifact_id, a.run_id, d.name, d.owner, d.project
                    from asked a join write.revision_state v on v.source ->> 'artifact_id' = a.artifact_id
                    join write.deployment_state d using (deployment_id)
                   where v.state not in ('failed', 'retired') and d.state not in ('deleting', 'deleted')
                  union all
                  select 'model', a.artifact_id, a.run_id, v.model || '@' || v.version, m.owner, m.project
                    from asked a join write.model_version v using (artifact_id) join write.model m on m.name = v.model
                   where m.deleted_at is null),
                ranked as (
                  select p.*, write.may_read(p.owner, p.project, $3, $2) as may_read
                    from protecting p join write.run_state r using (run_id) where r.deleted_at is null)
           select * from (
             select kind, run_id, short_id, artifact_id, may_read, count(*) over (partition by artifact_id) as total,
                    row_number() over (partition by artifact_id order by may_read desc, run_id, kind) as place
               from ranked) as placed
            where place <= $4 order by artifact_id, place`,
    values: [artifactIds, caller.role === 'admin', caller.username, named],
  })
  return new Map(
    [...Map.groupBy(rows, row => row.artifact_id)].map(([artifact_id, of]) => [
      artifact_id,
      {
        references: of.flatMap(({ kind, run_id, short_id, may_read }) =>
          may_read ? [{ kind, run_id, short_id, artifact_id }] : [],
        ),
        references_total: Number(of[0]?.total ?? 0),
      },
    ]),
  )
}

/** Forge's own rules see everything. */
export const everything = { username: '', role: 'admin' } as const
