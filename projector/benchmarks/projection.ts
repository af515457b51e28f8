import type { BenchmarkEvent } from '../../events/benchmarks.ts'
import type { Handlers } from '../projection.ts'
import type { BenchmarkTables } from './table.ts'

export const benchmarkProjection: Handlers<BenchmarkTables, BenchmarkEvent> = {
  'benchmark.recorded': (tx, { data, stream_version, occurred_at }) => {
    const { run_id, result_id, digest, ...result } = data
    return tx
      .insertInto('run_benchmarks')
      .values({
        run_id,
        result_id,
        revision: stream_version,
        benchmark: data.benchmark,
        recorded_at: occurred_at,
        result: JSON.stringify(result),
      })
      .execute()
  },
}
