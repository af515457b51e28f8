import type { Pool } from 'pg'
import type { BudgetEvent } from '../../events/budgets.ts'
import type { Transaction } from '../commit/event-store.ts'
import { peopleOfBudget } from '../rules/budget-people.ts'
import type { Spender } from './decide.ts'

/** Keeps the amount spent, so that a raised budget lets jobs start at once. */
export async function saveBudget(
  tx: Transaction,
  { events, now }: { events: readonly BudgetEvent[]; now: Date },
): Promise<void> {
  for (const { type, data } of events)
    if (type === 'budget.removed')
      await tx.query('delete from write.budget where scope = $1 and name = $2', [
        data.scope,
        data.name,
      ])
    else if (type === 'budget.set')
      await tx.query(
        `insert into write.budget (scope, name, amount_micro, holds, month, spent_micro, is_new)
         values ($1, $2, $3, $4, $5, 0, true)
         on conflict (scope, name) do update set
           amount_micro = excluded.amount_micro, holds = excluded.holds, is_new = true`,
        [data.scope, data.name, data.amount_micro, data.holds, monthOf(now)],
      )
}

export const monthOf = (now: Date): string => now.toISOString().slice(0, 7)

type Seen = Spender & { month: string; spent: bigint }

export const saveSpent = (tx: Transaction, { scope, name, month, spent }: Seen) =>
  tx.query(
    `update write.budget set month = $3, spent_micro = $4, is_new = false
      where scope = $1 and name = $2 and month <= $3`,
    [scope, name, month, String(spent)],
  )

export type Watched = Spender & {
  month: string
  spent_micro: string
  is_new: boolean
  people: string[]
}

/** Budgets that one look compares with the bills. */
const most = 10_000

export async function readBudgets(pool: Pool): Promise<Watched[]> {
  const { rows } = await pool.query<Watched>({
    name: 'watched_budgets',
    text: `select b.scope, b.name, b.month, b.spent_micro::text, b.is_new, ${peopleOfBudget} as people
             from write.budget b order by b.scope, b.name limit ${most}`,
  })
  return rows
}
