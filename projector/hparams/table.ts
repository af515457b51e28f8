import type { ColumnType } from 'kysely'

export type Scalar = string | number | boolean | null

type HparamValue = { run_id: string; key: string; text: string; number: number | null }

export type HparamTables = {
  run_hparams: {
    run_id: string
    params: ColumnType<Record<string, Scalar>, string, string>
  }
  /** Changes of values that had been set before, ordered by `version` and `place`. */
  run_hparam_changes: {
    run_id: string
    version: number
    place: number
    key: string
    from: Scalar
    to: Scalar
    at: Date
  }
  /** The values that searches compare: each as truncated text, and as a number if it is one. */
  run_hparam_values: HparamValue
  /** The same, limited to the runs that the session may read. */
  hparams_of_runs: HparamValue
}
