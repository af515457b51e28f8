import type { ColumnType } from 'kysely'
import type { BenchmarkRow } from '../../schemas/benchmarks.ts'

/** As reported. */
export type Result = Omit<BenchmarkRow, 'result_id' | 'recorded_at' | 'history'>

export type BenchmarkTables = {
  run_benchmarks: {
    run_id: string
    result_id: string
    revision: number
    benchmark: string
    recorded_at: ColumnType<Date, string, string>
    result: ColumnType<Result, string, string>
  }
}
