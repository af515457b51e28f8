import type { BudgetScope } from '../../schemas/billing.ts'

/** Reads the bills, which are read models, for rules. */
export type Ledger = {
  /** What each of these people, projects and teams spent in the month of `now`, in millionths. */
  spent(of: readonly { scope: BudgetScope; name: string }[], now: Date): Promise<bigint[]>
  /** An entry that a correction refers to; null: there is none. */
  entry(entry_id: string): Promise<LedgerEntry | null>
}

export type LedgerEntry = {
  owner: string
  project: string | null
  run_id: string | null
  day: string
  starts_at: Date
  ends_at: Date
}
