import type { ColumnType } from 'kysely'

export type Scalar = string | number | boolean | null
export type HparamChange = { key: string; from: Scalar; to: Scalar; at: string }

export type HparamTables = {
  run_hparams: {
    run_id: string
    params: ColumnType<Record<string, Scalar>, string, string>
    changes: ColumnType<HparamChange[], string, string>
  }
}
