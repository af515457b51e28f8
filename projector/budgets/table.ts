import type { ColumnType } from 'kysely'

export type BudgetTables = {
  budgets: {
    scope: 'user' | 'project'
    name: string
    /** Millionths of the currency. */
    amount_micro: ColumnType<string, string, string>
    holds: boolean
  }
}
