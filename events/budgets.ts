import { Type } from 'typebox'
import { oneOf } from '../schemas/shared.ts'
import { moneyText } from './calculations/billing.ts'
import { aggregate, type EventOf, event } from './event.ts'

const of = { scope: oneOf('user', 'project', 'team'), name: Type.String() }
/** Millionths of the currency, a whole number. */
const micro = () => Type.String()
const money = (text: string) => moneyText(BigInt(text))

/** `amount_micro` is for each calendar month (UTC); `holds`: once it is spent, no queued job starts. */
export const budgetSet = event(
  'budget.set',
  Type.Object({ ...of, amount_micro: micro(), holds: Type.Boolean() }),
  ({ scope, name, amount_micro }, who) =>
    `${who} set the budget of ${scope} ${name}: ${money(amount_micro)} a month`,
)

export const budgetRemoved = event(
  'budget.removed',
  Type.Object(of),
  ({ scope, name }, who) => `${who} removed the budget of ${scope} ${name}`,
)

/** A share of the budget was spent; `tell` lists the people to notify. */
export const budgetThreshold = event(
  'budget.threshold',
  Type.Object({
    ...of,
    /** `2026-11`. */
    month: Type.String(),
    percent: Type.Integer({ minimum: 1 }),
    spent_micro: micro(),
    amount_micro: micro(),
    holds: Type.Boolean(),
    tell: Type.Array(Type.String()),
  }),
  ({ scope, name, percent, month }) =>
    `${scope} ${name} spent ${percent} % of its budget of ${month}`,
)

const events = [budgetSet, budgetRemoved, budgetThreshold] as const
export type BudgetEvent = EventOf<(typeof events)[number]>

export type Budget = {
  amount_micro: string
  holds: boolean
} | null

/** `told`: the highest threshold of that month so far. It survives changes of the budget, so that none is announced twice. */
export type BudgetState = { budget: Budget; told: { month: string; percent: number } | null }

function evolve(state: BudgetState, event: BudgetEvent): BudgetState {
  switch (event.type) {
    case 'budget.set': {
      const { amount_micro, holds } = event.data
      return { ...state, budget: { amount_micro, holds } }
    }
    case 'budget.removed':
      return { ...state, budget: null }
    case 'budget.threshold': {
      const { month, percent } = event.data
      return { ...state, told: { month, percent } }
    }
  }
}

export const budgets = aggregate('budget', {
  events,
  initial: { budget: null, told: null },
  evolve,
})
export const budgetAt = (scope: string, name: string) => budgets.at(`${scope}:${name}`)
