import type { BudgetEvent } from '../../events/budgets.ts'
import type { Handlers } from '../projection.ts'
import type { BudgetTables } from './table.ts'

type Kept = Extract<BudgetEvent, { type: 'budget.set' | 'budget.removed' }>

export const budgetProjection: Handlers<BudgetTables, Kept> = {
  'budget.set': (tx, { data }) =>
    tx
      .insertInto('budgets')
      .values(data)
      .onConflict(on =>
        on
          .columns(['scope', 'name'])
          .doUpdateSet({ amount_micro: data.amount_micro, holds: data.holds }),
      )
      .execute(),
  'budget.removed': (tx, { data: { scope, name } }) =>
    tx.deleteFrom('budgets').where('scope', '=', scope).where('name', '=', name).execute(),
}
