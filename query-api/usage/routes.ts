import { type Kysely, sql } from 'kysely'
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
import { gpuLines, mayBeTold } from '../rules/billed.ts'
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
      from (${gpuLines(open)}) line
     where day between ${from} and ${to} and ${mayBeTold(caller)}
     group by 1`
  const { rows } = await sql<Group>`
    ${groups} order by ${orders[group]} limit ${limit} offset ${offset}`.execute(db)
  const { rows: all } = await sql<{ count: number }>`
    select count(*) as count from (${groups}) as found`.execute(db)
  return { rows: rows.map(toRow), counted: all[0]?.count ?? 0 }
}

const toRow = ({ group, gpu_ms, cost_micro, runs }: Group): UsageRow => ({
  group,
  gpu_seconds: toSeconds(BigInt(gpu_ms)),
  gpu_hours: hoursText(BigInt(gpu_ms)),
  cost: moneyText(BigInt(cost_micro)),
  currency,
  runs,
})
