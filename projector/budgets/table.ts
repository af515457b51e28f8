import type { ColumnType } from 'kysely'
import type { BudgetScope } from '../../schemas/billing.ts'

export type BudgetTables = {
  budgets: {
    scope: BudgetScope
    name: string
    /** Millionths of the currency. */
    amount_micro: ColumnType<string, string, string>
    holds: boolean
  }
}
