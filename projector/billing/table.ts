import type { ColumnType } from 'kysely'

type Instant = ColumnType<Date, string, never>
/** A whole number of any size, which may exceed JavaScript's numbers. */
type Whole = ColumnType<string, string, never>

export type BillingTables = {
  /** Append-only (`events/billing.ts`). */
  billing_entries: {
    entry_id: string
    kind: string
    owner: string
    project: string | null
    run_id: string | null
    day: string
    starts_at: Instant
    ends_at: Instant
    byte_ms: Whole
    price_per_gb_month: string
    cost_micro: Whole
    corrects: string | null
    reason: string
  }
}
