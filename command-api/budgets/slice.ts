import type { Slice } from '../slice.ts'
import { budgetRoutes } from './routes.ts'
import { budgetWatcher } from './watch.ts'

export const budgets: Slice = {
  name: 'budgets',
  routes: budgetRoutes,
  reactors: [budgetWatcher],
  kind: null,
  announces: {
    // Jobs that were held may start.
    budget: { 'budget.set': 'queue', 'budget.removed': 'queue', 'budget.threshold': 'none' },
  },
  unprojected: ['budget.threshold'],
  tables: ['write.budget'],
  examples: {
    paths: { 'budgets.scope': 'project', 'budgets.name': 'demo' },
    bodies: { 'PUT /api/budgets/{scope}/{name}': { amount: '500', hold: true } },
  },
}
