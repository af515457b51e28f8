import { decisions } from '../decisions.ts'
import type { Slice } from '../slice.ts'
import { budgetProjection } from './projection.ts'

export const budgets: Slice = { name: 'budgets', decisions: decisions(budgetProjection) }
