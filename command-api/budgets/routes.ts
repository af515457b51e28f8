import { type Route, route } from '../../auth/route.ts'
import { budgetAt } from '../../events/budgets.ts'
import { moneyText, toMicro } from '../../events/calculations/billing.ts'
import { budgetGone, budgetInput, budgetPath, budgetSet } from '../../schemas/billing.ts'
import { commit } from '../commit/commit.ts'
import type { Deps } from '../deps.ts'
import { refuseUnlessBudgetOf } from '../rules/budget-people.ts'
import { holdTeam } from '../rules/teams.ts'
import { removeBudget, setBudget } from './decide.ts'
import { saveBudget } from './rows.ts'

const common = {
  path: '/api/budgets/{scope}/{name}',
  credential: 'person',
  reach: 'its_people',
  tag: 'billing',
  params: budgetPath,
  refusals: ['not_found', 'forbidden'],
} as const

export const budgetRoutes = (deps: Deps): Route[] => [
  route({
    ...common,
    method: 'PUT',
    summary: 'Set the budget of a person, a project or a team, for each calendar month',
    body: budgetInput,
    response: budgetSet,
    async handle(request) {
      const { scope, name } = request.params
      const { amount, hold } = request.body
      await refuseUnlessBudgetOf(deps.pool, { scope, name }, request.caller)
      const amount_micro = String(toMicro(amount))
      await commit(deps, request, budgetAt(scope, name), {
        decide: state => setBudget(state, { scope, name }, { amount_micro, holds: hold }),
        async alongside(tx, decided) {
          if (scope === 'team') await holdTeam(tx, name)
          await saveBudget(tx, decided)
        },
      })
      return { scope, name, amount: moneyText(BigInt(amount_micro)), hold }
    },
  }),
  route({
    ...common,
    method: 'DELETE',
    summary: 'Remove the budget of a person, a project or a team',
    response: budgetGone,
    async handle(request) {
      const { scope, name } = request.params
      await refuseUnlessBudgetOf(deps.pool, { scope, name }, request.caller)
      await commit(deps, request, budgetAt(scope, name), {
        decide: state => removeBudget(state, { scope, name }),
        alongside: saveBudget,
      })
      return { ok: true }
    },
  }),
]
