import type { BudgetEvent, BudgetState } from '../../events/budgets.ts'
import type { BudgetScope } from '../../schemas/billing.ts'

export type Spender = { scope: BudgetScope; name: string }

/** Idempotent: setting the same budget appends no event. */
export function setBudget(
  { budget }: BudgetState,
  of: Spender,
  wanted: { amount_micro: string; holds: boolean },
): BudgetEvent[] {
  const { amount_micro, holds } = wanted
  if (budget?.amount_micro === amount_micro && budget.holds === holds) return []
  return [{ type: 'budget.set', data: { ...of, amount_micro, holds } }]
}

export const removeBudget = ({ budget }: BudgetState, of: Spender): BudgetEvent[] =>
  budget === null ? [] : [{ type: 'budget.removed', data: of }]

const thresholds = [50, 80, 100]

export type Spending = { month: string; spent: bigint; tell: string[] }

/** One event for the highest threshold that was crossed since the last one of the month. */
export function noteSpending(
  { budget, told }: BudgetState,
  of: Spender,
  { month, spent, tell }: Spending,
): BudgetEvent[] {
  if (budget === null) return []
  const { amount_micro, holds } = budget
  const known = told?.month === month ? told.percent : 0
  const percent =
    thresholds.findLast(one => spent * 100n >= BigInt(amount_micro) * BigInt(one)) ?? 0
  // Months of the past are over; their bills may still change.
  if (percent <= known || (told !== null && told.month > month)) return []
  const data = { ...of, month, percent, spent_micro: String(spent), amount_micro, holds, tell }
  return [{ type: 'budget.threshold', data }]
}
