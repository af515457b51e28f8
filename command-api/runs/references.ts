import type { Person } from '../../auth/caller.ts'
import type { RunDeleted } from '../../schemas/runs.ts'
import type { Transaction } from '../event-store.ts'

type References = Pick<RunDeleted, 'references' | 'references_total'>

/** Maximum number that a response lists. */
const listed = 100

/** The jobs that refer to a run. Jobs that the caller may not read are counted, not named. */
export async function referencesTo(
  tx: Transaction,
  run_id: string,
  caller: Pick<Person, 'username' | 'role'>,
): Promise<References> {
  const { rows } = await tx.query<RunDeleted['references'][number] & { total: string }>({
    name: 'references_to_run',
    text: `with referring as (
             select 'init_from' as kind, j.run_id, j.short_id, j.owner, j.project, a.artifact_id
               from write.artifact a join write.job_state j on j.init_from = a.artifact_id
              where a.run_id = $1
             union all
             select 'retry', run_id, short_id, owner, project, null from write.job_state where retry_of = $1
             union all
             select 'clone', run_id, short_id, owner, project, null from write.job_state where clone_of = $1),
           alive as (
             select referring.* from referring join write.run_state r using (run_id)
              where r.deleted_at is null and run_id <> $1)
           select (select count(*) from alive) as total, shown.*
             from (select 1) as always
             left join (
               select kind, run_id, short_id, artifact_id from alive
                where write.may_read(owner, project, $3, $2)
                order by run_id, kind limit $4) shown on true`,
    values: [run_id, caller.role === 'admin', caller.username, listed],
  })
  const shown = rows.filter(row => row.run_id !== null)
  return {
    references: shown.map(({ total: _, ...reference }) => reference),
    references_total: Number(rows[0]?.total ?? 0),
  }
}
