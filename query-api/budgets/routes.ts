import { type Kysely, sql } from 'kysely'
import type { Pool } from 'pg'
import type { Person } from '../../auth/caller.ts'
import type { Route } from '../../auth/route.ts'
import { moneyText, nearest } from '../../events/calculations/billing.ts'
import type { Clock } from '../../platform/time.ts'
import type { BudgetTables } from '../../projector/budgets/table.ts'
import {
  type BudgetRow,
  type BudgetScope,
  budgetPath,
  budgetRow,
  budgetsQuery,
} from '../../schemas/billing.ts'
import { currency } from '../../schemas/profiles.ts'
import { one, pagedList } from '../reading/list.ts'
import { asCaller, type Reads } from '../reading/reads.ts'
import { type BilledTables, mayBeTold, readSpent } from '../rules/billed.ts'
import { daysOfMonth } from '../rules/month.ts'

export type Tables = BilledTables & BudgetTables

export type BudgetDeps = { reads: Reads<Tables>; pool: Pool; now: Clock }

export const budgetRoutes = ({ reads, pool, now }: BudgetDeps): Route[] => [
  pagedList({
    ...asCaller(reads),
    path: '/api/budgets',
    tag: 'billing',
    summary: 'Your budget and those of your projects, with what was spent of them this month',
    query: budgetsQuery,
    row: budgetRow,
    async read({ db }, { caller }, { limit, offset }) {
      const { rows } =
        await sql<Found>`${select(caller)} order by scope, name limit ${limit} offset ${offset}`.execute(
          db,
        )
      const { rows: all } = await sql<{ count: number }>`
        select count(*)::integer as count from (${select(caller)}) found`.execute(db)
      return { rows: await withSpent({ db, pool }, rows, now()), counted: all[0]?.count ?? 0 }
    },
  }),
  one({
    ...asCaller(reads),
    path: '/api/budgets/{scope}/{name}',
    reach: 'its_people',
    tag: 'billing',
    summary: 'A budget, with what was spent of it this month',
    params: budgetPath,
    response: budgetRow,
    missing: () => 'No such budget',
    async read({ db }, { caller, params: { scope, name } }) {
      const { rows } = await sql<Found>`
        select * from (${select(caller)}) found where scope = ${scope} and name = ${name}`.execute(
        db,
      )
      return (await withSpent({ db, pool }, rows, now()))[0]
    },
  }),
]

type Found = { scope: BudgetScope; name: string; amount_micro: string; holds: boolean }

/** Members of a project or a team read its budget, like its bills. */
const select = (caller: Person) => sql`
  select scope, name, amount_micro::text as amount_micro, holds
    from (select b.*, case scope when 'user' then name end as owner, case scope when 'project' then name end as project
            from budgets b) budget
   where ${mayBeTold(caller)}
      or (scope = 'team' and name in (select team from team_members where username = ${caller.username}))`

async function withSpent(
  { db, pool }: { db: Kysely<Tables>; pool: Pool },
  budgets: readonly Found[],
  now: Date,
): Promise<BudgetRow[]> {
  const { month, ...days } = daysOfMonth(undefined, now)
  const spent = await readSpent(db, budgets, { ...days, now })
  const ofTeams = await spentByTeams(pool, budgets, month)
  return budgets.map(({ scope, name, amount_micro, holds }, nth) => {
    const used = scope === 'team' ? (ofTeams.get(name) ?? 0n) : (spent[nth] ?? 0n)
    return {
      ...{ scope, name, month, currency },
      amount: moneyText(BigInt(amount_micro)),
      hold: holds,
      spent: moneyText(used),
      forecast: moneyText(forecastOf(used, now)),
      holding: holds && used >= BigInt(amount_micro),
    }
  })
}

/** As of the last look, a minute ago at most: a member may not read all jobs that the team pays for. */
async function spentByTeams(
  pool: Pool,
  budgets: readonly Found[],
  month: string,
): Promise<Map<string, bigint>> {
  const names = budgets.flatMap(({ scope, name }) => (scope === 'team' ? name : []))
  if (names.length === 0) return new Map()
  const { rows } = await pool.query<{ name: string; spent: string }>({
    name: 'spent_by_teams',
    text: `select name, spent_micro::text as spent from write.budget
            where scope = 'team' and name = any($1) and month = $2`,
    values: [names, month],
  })
  return new Map(rows.map(({ name, spent }) => [name, BigInt(spent)]))
}

/** Linear: what the whole month costs if the rest of it costs as much per second as the part that has passed. */
export function forecastOf(spent: bigint, now: Date): bigint {
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()]
  const start = Date.UTC(year, month)
  const whole = Date.UTC(year, month + 1) - start
  return nearest(spent * BigInt(whole), BigInt(Math.max(1, now.getTime() - start)))
}
