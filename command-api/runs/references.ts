import type { Person } from '../../auth/caller.ts'
import type { RunDeleted } from '../../schemas/runs/runs.ts'
import type { Transaction } from '../commit/event-store.ts'

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
             select u.used_as as kind, u.user_id as run_id, null as artifact_id
               from write.use u
              where u.used_kind = 'run' and u.used_id = $1 and u.used_as in ('retry', 'clone')
             union all
             select u.used_as, u.user_id, a.id
               from write.resource a join write.use u on u.used_kind = a.kind and u.used_id = a.id
              where a.within_kind = 'run' and a.within_id = $1 and a.kind = 'artifact' and u.used_as = 'init_from'),
           alive as (
             select referring.*, coalesce(r.name, r.id) as short_id, r.owner, r.project
               from referring join write.resource r on r.kind = 'run' and r.id = referring.run_id
              where r.deleted_at is null and referring.run_id <> $1)
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

/** The number of jobs, models and deployments, without deleted ones, that use a run or one of its artifacts. */
export async function usersOf(tx: Transaction, run_id: string): Promise<number> {
  const { rows } = await tx.query<{ users: number }>({
    name: 'users_of_run',
    text: `with own as (
             select 'run' as kind, $1 as id
             union all
             select kind, id from write.resource where within_kind = 'run' and within_id = $1)
           select count(distinct (u.user_kind, u.user_id))::int as users
             from own join write.use u on u.used_kind = own.kind and u.used_id = own.id
             join write.resource r on r.kind = u.user_kind and r.id = u.user_id
            where u.until is null and r.deleted_at is null and (r.kind, r.id) not in (select kind, id from own)`,
    values: [run_id],
  })
  return rows[0]?.users ?? 0
}
