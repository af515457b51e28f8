import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Person } from '../../auth/caller.ts'
import type { Route } from '../../auth/route.ts'
import { hoursText, moneyText, toSeconds } from '../../events/calculations/billing.ts'
import type { Clock } from '../../platform/time.ts'
import type { ProjectTables } from '../../projector/projects/table.ts'
import type { UsageTables } from '../../projector/usage/table.ts'
import { currency } from '../../schemas/profiles.ts'
import { type UsageQuery, type UsageRow, usageQuery, usageRow } from '../../schemas/usage.ts'
import { pagedList } from '../reading/list.ts'
import { asCaller, type Reads } from '../reading/reads.ts'
import { type LineOfRun, readOpenLines } from '../rules/ledger.ts'
import { daysOf } from './days.ts'

export type Tables = ProjectTables & UsageTables

export const usageRoutes = (reads: Reads<Tables>, now: Clock): Route[] => [
  pagedList({
    ...asCaller(reads),
    path: '/api/usage',
    tag: 'usage',
    summary: 'GPU time and its cost by user, project or day, of yourself and your projects',
    query: usageQuery,
    row: usageRow,
    async read({ db }, { caller, query }, page) {
      const at = now()
      const open = await readOpenLines(db, 'all', at)
      const asked = { ...query, ...daysOf(query, at) }
      return readGroups(db, { caller, open, ...asked, ...page })
    },
  }),
]

type Asked = {
  caller: Person
  group?: UsageQuery['group']
  open: readonly LineOfRun[]
  from: string
  to: string
  limit: number
  offset: number
}

const columns = { user: sql`owner`, project: sql`project`, day: sql`day` } as const
/** Most expensive first; days newest first. */
const orders = {
  user: sql`sum(cost_micro) desc, sum(gpu_ms) desc, 1`,
  project: sql`sum(cost_micro) desc, sum(gpu_ms) desc, 1`,
  day: sql`1 desc`,
} as const

type Group = { group: string; gpu_ms: string; cost_micro: string; runs: number; counted: number }

async function readGroups(
  db: Kysely<Tables>,
  { caller, group = 'user', open, from, to, limit, offset }: Asked,
): Promise<{ rows: UsageRow[]; counted: number }> {
  const groups = sql`
    select ${columns[group]} as "group", sum(gpu_ms) as gpu_ms, sum(cost_micro) as cost_micro,
           count(distinct run_id) as runs
      from (select run_id, owner, project, day, gpu_ms, cost_micro from usage_lines
             union all
            select run_id, owner, project, day, gpu_ms, cost_micro
              from jsonb_to_recordset(${toJson(open)}::jsonb)
                       as open (run_id text, owner text, project text, day text, gpu_ms numeric, cost_micro numeric, attempt integer)
             where not exists (select from usage_lines l where l.run_id = open.run_id and l.attempt = open.attempt)) line
     where day between ${from} and ${to} and ${mayBeTold(caller)}
     group by 1`
  const { rows } = await sql<Group>`
    ${groups} order by ${orders[group]} limit ${limit} offset ${offset}`.execute(db)
  const { rows: all } = await sql<{ count: number }>`
    select count(*) as count from (${groups}) as found`.execute(db)
  return { rows: rows.map(toRow), counted: all[0]?.count ?? 0 }
}

/**
 * Their own usage, and that of projects they own or are members of. Narrower than read access to runs: other people's
 * usage in internal projects is not summed up for everybody.
 */
const mayBeTold = ({ role, username }: Person): RawBuilder<SqlBool> =>
  role === 'admin'
    ? sql<SqlBool>`true`
    : sql<SqlBool>`(owner = ${username}
        or project in (select name from projects where owner = ${username}
                        union select project from project_members where username = ${username}))`

const toJson = (open: readonly LineOfRun[]): string =>
  JSON.stringify(
    open.map(({ run_id, owner, project, day, gpu_ms, cost_micro, attempt }) => ({
      ...{ run_id, owner, project, day, attempt },
      gpu_ms: String(gpu_ms),
      cost_micro: String(cost_micro),
    })),
  )

const toRow = ({ group, gpu_ms, cost_micro, runs }: Group): UsageRow => ({
  group,
  gpu_seconds: toSeconds(BigInt(gpu_ms)),
  gpu_hours: hoursText(BigInt(gpu_ms)),
  cost: moneyText(BigInt(cost_micro)),
  currency,
  runs,
})
