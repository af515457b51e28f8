import type { ColumnType } from 'kysely'
import type { Metered } from '../../events/calculations/billing.ts'

type Instant = ColumnType<Date, string, never>
/** A whole number of any size, which may exceed JavaScript's numbers. */
type Whole = ColumnType<string, string, never>

export type UsageTables = {
  usage_runs: {
    run_id: string
    owner: string
    project: string
    metered: ColumnType<Metered, string, string>
    /** Whether an attempt holds billed GPUs. */
    is_open: boolean
  }
  /** Append-only (`Entry` in events/calculations/billing.ts). */
  usage_lines: {
    run_id: string
    nth: number
    owner: string
    project: string
    attempt: number
    day: string
    starts_at: Instant
    ends_at: Instant
    sign: number
    price_per_gpu_hour: string
    gpu_ms: Whole
    cost_micro: Whole
  }
}
