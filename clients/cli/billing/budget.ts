import type { BudgetRow } from '../../../schemas/billing.ts'
import { segment } from '../api/client.ts'
import { describe } from '../program/describe.ts'
import { usageFailure } from '../program/failure.ts'
import { list } from '../program/list.ts'
import { request } from '../program/request.ts'
import type { CommonOptions, Flags } from '../program/session.ts'

export const describeBudgetList = describe({
  text: 'your budget and those of your projects and teams, with what was spent this month',
})

export const budgetList = list<BudgetRow>({
  path: '/api/budgets',
  shown: {
    columns: [
      { title: 'OF', cell: row => `${row.scope} ${row.name}`, shrinks: true },
      { title: 'SPENT', cell: row => row.spent, align: 'right' },
      { title: 'BUDGET', cell: row => `${row.amount} ${row.currency}`, align: 'right' },
      { title: 'FORECAST', cell: row => row.forecast, align: 'right' },
      {
        title: 'JOBS',
        cell: row => (row.holding ? 'held' : row.hold ? 'held once spent' : 'never held'),
        drops: true,
      },
    ],
    none: 'There are no budgets: forge budget set creates one',
  },
})

const operands = {
  '<scope>': { text: 'user, project or team', choices: ['user', 'project', 'team'] },
  '<name>': 'a username, a project or a team',
}

type SetOptions = CommonOptions & Flags<'hold'>
type Set = Pick<BudgetRow, 'scope' | 'name' | 'amount' | 'hold'>

export const describeBudgetSet = describe({
  text: 'set the budget of each calendar month (UTC)',
  operands: { ...operands, '<amount>': 'in the currency of the installation, e.g. 500' },
  options: { '--hold': 'new jobs wait once it is spent, until it is raised or the month ends' },
})

export const budgetSet = request<Set, SetOptions>({
  send: ({ api }, { hold = false }, scope = '', name = '', amount = '') => {
    if (!/^\d+(\.\d+)?$/.test(amount)) throw usageFailure(`${amount}: give an amount, e.g. 500`)
    return api.put<Set>(pathOf(scope, name), { amount, hold })
  },
  note: ({ scope, name, amount, hold }) => [
    `Budget of ${scope} ${name}: ${amount} a month${hold ? '; new jobs wait once it is spent' : ''}`,
  ],
})

export const describeBudgetRemove = describe({ text: 'remove a budget', operands })

export const budgetRemove = request<{ ok: true }>({
  send: ({ api }, _, scope = '', name = '') => api.delete<{ ok: true }>(pathOf(scope, name)),
  note: () => ['The budget is removed'],
})

const pathOf = (scope: string, name: string) => `/api/budgets/${scope}/${segment(name)}`
