import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Person } from '../../auth/caller.ts'
import type { BillingTables } from '../../projector/billing/table.ts'
import type { JobTables } from '../../projector/jobs/table.ts'
import type { ProjectTables } from '../../projector/projects/table.ts'
import type { UsageTables } from '../../projector/usage/table.ts'
import type { BudgetScope } from '../../schemas/billing.ts'
import { serveKind } from '../../schemas/recipes.ts'
import { type LineOfRun, readOpenLines } from './ledger.ts'

export type BilledTables = BillingTables & JobTables & ProjectTables & UsageTables

/**
 * Their own usage, and that of projects they own or are members of. Narrower than read access to runs: other people's
 * usage in internal projects is not summed up for everybody.
 */
export const mayBeTold = ({ role, username }: Pick<Person, 'role' | 'username'>) =>
  role === 'admin'
    ? sql<SqlBool>`true`
    : sql<SqlBool>`(owner = ${username}
        or project in (select name from projects where owner = ${username}
                        union select project from project_people where username = ${username}))`

/** SQL: the GPU time of the ledger with that of running attempts, which `open` is. */
export const gpuLines = (open: readonly LineOfRun[]): RawBuilder<unknown> => sql`
  select run_id, owner, project, day, gpu_ms, cost_micro from usage_lines
   union all
  select run_id, owner, project, day, gpu_ms, cost_micro
    from jsonb_to_recordset(${toJson(open)}::jsonb)
             as open (run_id text, owner text, project text, day text, gpu_ms numeric, cost_micro numeric, attempt integer)
   where not exists (select from usage_lines l where l.run_id = open.run_id and l.attempt = open.attempt)`

const toJson = (open: readonly LineOfRun[]): string =>
  JSON.stringify(
    open.map(({ run_id, owner, project, day, gpu_ms, cost_micro, attempt }) => ({
      ...{ run_id, owner, project, day, attempt },
      gpu_ms: String(gpu_ms),
      cost_micro: String(cost_micro),
    })),
  )

/** SQL: everything that is billed, with running attempts. */
export const billedLines = (open: readonly LineOfRun[]): RawBuilder<unknown> => sql`
  select case when j.kind = ${serveKind} then 'deployment' else 'run' end as kind, line.owner, line.project, j.team, run_id, day,
         gpu_ms, 0::numeric as byte_ms, cost_micro
    from (${gpuLines(open)}) line left join jobs j using (run_id)
   union all
  select e.kind, e.owner, e.project, j.team, run_id, e.day, 0, e.byte_ms, e.cost_micro
    from billing_entries e left join jobs j using (run_id)`

/** SQL: the rows of the ledger, oldest first by `starts_at, entry_id`. */
export const ledgerEntries: RawBuilder<unknown> = sql`
  select l.run_id || '.' || l.nth as entry_id, case when j.kind = ${serveKind} then 'deployment' else 'run' end as kind,
         l.day, l.starts_at, l.ends_at, l.owner, l.project, l.run_id, l.attempt, j.series, l.gpu_ms, null::numeric as byte_ms,
         l.price_per_gpu_hour as price, l.cost_micro, null as corrects, null as reason
    from usage_lines l left join jobs j using (run_id)
   union all
  select entry_id, kind, day, starts_at, ends_at, owner, project, run_id, null, null, null,
         case when kind = 'storage' then byte_ms end, price_per_gb_month, cost_micro, corrects, nullif(reason, '')
    from billing_entries`

export type Spender = { scope: BudgetScope; name: string }
/** The first and the last UTC day. */
export type Days = { from: string; to: string }

/** What each of these people, projects and teams spent in these days, in millionths, with running attempts up to now. */
export async function readSpent(
  db: Kysely<BilledTables>,
  spenders: readonly Spender[],
  { from, to, now }: Days & { now: Date },
): Promise<bigint[]> {
  if (spenders.length === 0) return []
  const open = await readOpenLines(db, 'all', now)
  const named = spenders.map(({ scope, name }, nth) => ({ scope, name, nth }))
  const { rows } = await sql<{ nth: number; spent: string }>`
    with billed as materialized (
           select owner, project, team, cost_micro from (${billedLines(open)}) line where day between ${from} and ${to}),
         total as (select 'user' as scope, owner as name, sum(cost_micro) as spent from billed group by owner
                    union all
                   select 'project', project, sum(cost_micro) from billed where project is not null group by project
                    union all
                   select 'team', team, sum(cost_micro) from billed where team is not null group by team)
    select b.nth, coalesce(t.spent, 0)::text as spent
      from jsonb_to_recordset(${JSON.stringify(named)}::jsonb) as b (scope text, name text, nth integer)
      left join total t using (scope, name)`.execute(db)
  const spent = new Map(rows.map(row => [row.nth, BigInt(row.spent)]))
  return spenders.map((_, nth) => spent.get(nth) ?? 0n)
}
