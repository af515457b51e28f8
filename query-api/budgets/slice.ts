import type { Slice } from '../slice.ts'
import { budgetRoutes, type Tables } from './routes.ts'

export const budgets: Slice<Tables> = {
  name: 'budgets',
  routes: budgetRoutes,
}
