import type { ColumnType } from 'kysely'
import type { BenchmarkDefinition } from '../../schemas/benchmarks/catalogue.ts'
import type { BenchmarkRow } from '../../schemas/benchmarks/results.ts'

/** As reported. */
export type Result = Omit<BenchmarkRow, 'result_id' | 'recorded_at' | 'history'>

export type BenchmarkTables = {
  benchmark_versions: {
    name: string
    version: number
    owner: string
    definition: ColumnType<BenchmarkDefinition, string, string>
    defined_at: ColumnType<Date, string, string>
    defined_by: string
  }
  run_benchmarks: {
    run_id: string
    result_id: string
    revision: number
    benchmark: string
    recorded_at: ColumnType<Date, string, string>
    result: ColumnType<Result, string, string>
  }
}
