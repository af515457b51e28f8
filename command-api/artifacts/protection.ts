import type { Pool } from 'pg'
import type { Person } from '../../auth/caller.ts'
import type { protections } from '../../schemas/artifacts/artifacts.ts'
import type { Transaction } from '../commit/event-store.ts'
import { newestCheckpointId } from '../rules/newest-checkpoint.ts'

export type Reference = {
  kind: (typeof protections)[number]
  run_id: string
  /** Of `model`: the version, as `name@3`; of `deployment`: its name. */
  short_id: string
  artifact_id: string
}

/** References that the caller may not read are counted, not named. */
export type Protection = { references: Reference[]; references_total: number }

/** Maximum number of names per artifact. */
const named = 20

type Row = Reference & { may_read: boolean; total: string }

/**
 * What keeps these artifacts from being deleted: everything that uses one and is not deleted (`write.use`), and jobs that have
 * not ended, which would continue from the newest checkpoint of their run. To rely on it, lock the artifacts first
 * (`lockArtifacts`): every slice that begins to use one holds it (`holdResource`).
 */
export async function protectionsOf(
  db: Pool | Transaction,
  artifactIds: readonly string[],
  caller: Pick<Person, 'username' | 'role'>,
): Promise<Map<string, Protection>> {
  const { rows } = await db.query<Row>({
    name: 'protections_of_artifacts',
    text: `with asked as (select artifact_id, run_id from write.artifact where artifact_id = any($1)),
                used as (
                  select a.artifact_id, a.run_id, u.user_kind, u.user_id, u.used_as
                    from asked a join write.use u on u.used_kind = 'artifact' and u.used_id = a.artifact_id
                   where u.until is null
                  union all
                  select a.artifact_id, a.run_id, u.user_kind, u.user_id, 'resume'
                    from asked a join write.use u on u.used_kind = 'run' and u.used_id = a.run_id
                   where u.used_as = 'checkpoints' and u.until is null
                     and a.artifact_id = ${newestCheckpointId('a.run_id')}),
                protecting as (
                  select distinct u.artifact_id, case u.user_kind when 'run' then u.used_as else u.user_kind end as kind,
                         case u.user_kind when 'run' then u.user_id else u.run_id end as run_id,
                         case u.user_kind when 'model' then r.name || '@' || u.used_as else coalesce(r.name, r.id) end
                           as short_id,
                         write.may_read(r.owner, r.project, $3, $2) as may_read
                    from used u join write.resource r on r.kind = u.user_kind and r.id = u.user_id
                   where r.deleted_at is null)
           select * from (
             select *, count(*) over (partition by artifact_id) as total,
                    row_number() over (partition by artifact_id order by may_read desc, run_id, kind, short_id) as place
               from protecting) as placed
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
