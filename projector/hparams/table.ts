import type { ColumnType } from 'kysely'

export type Scalar = string | number | boolean | null

export type HparamTables = {
  run_hparams: {
    run_id: string
    params: ColumnType<Record<string, Scalar>, string, string>
  }
  /** Changes of values that were set before, in the order of `version` and `place`. */
  run_hparam_changes: {
    run_id: string
    version: number
    place: number
    key: string
    from: Scalar
    to: Scalar
    at: Date
  }
}
