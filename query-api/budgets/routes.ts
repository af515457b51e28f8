import { type Kysely, sql } from 'kysely'
import type { Person } from '../../auth/caller.ts'
import type { Route } from '../../auth/route.ts'
import { moneyText, nearest } from '../../events/calculations/billing.ts'
import type { Clock } from '../../platform/time.ts'
import type { BudgetTables } from '../../projector/budgets/table.ts'
import { type BudgetRow, budgetPath, budgetRow, budgetsQuery } from '../../schemas/billing.ts'
import { currency } from '../../schemas/profiles.ts'
import { one, pagedList } from '../reading/list.ts'
import { asCaller, type Reads } from '../reading/reads.ts'
import { type BilledTables, mayBeTold, readSpent } from '../rules/billed.ts'
import { daysOfMonth } from '../rules/month.ts'

export type Tables = BilledTables & BudgetTables

export const budgetRoutes = (reads: Reads<Tables>, now: Clock): Route[] => [
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
      return { rows: await withSpent(db, rows, now()), counted: all[0]?.count ?? 0 }
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
      return (await withSpent(db, rows, now()))[0]
    },
  }),
]

type Found = { scope: 'user' | 'project'; name: string; amount_micro: string; holds: boolean }

/** Members of a project read its budget, like its bills. */
const select = (caller: Person) => sql`
  select scope, name, amount_micro::text as amount_micro, holds
    from (select b.*, case scope when 'user' then name end as owner, case scope when 'project' then name end as project
            from budgets b) budget
   where ${mayBeTold(caller)}`

async function withSpent(
  db: Kysely<Tables>,
  budgets: readonly Found[],
  now: Date,
): Promise<BudgetRow[]> {
  const { month, ...days } = daysOfMonth(undefined, now)
  const spent = await readSpent(db, budgets, { ...days, now })
  return budgets.map(({ scope, name, amount_micro, holds }, nth) => {
    const used = spent[nth] ?? 0n
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

/** Linear: what the whole month costs if the rest of it costs as much per second as the part that has passed. */
export function forecastOf(spent: bigint, now: Date): bigint {
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()]
  const start = Date.UTC(year, month)
  const whole = Date.UTC(year, month + 1) - start
  return nearest(spent * BigInt(whole), BigInt(Math.max(1, now.getTime() - start)))
}
