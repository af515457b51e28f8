import type { DefinitionEvent } from '../../events/benchmark-definitions.ts'
import type { BenchmarkEvent } from '../../events/benchmarks.ts'
import type { Handlers } from '../projection.ts'
import type { BenchmarkTables } from './table.ts'

export const benchmarkProjection: Handlers<BenchmarkTables, BenchmarkEvent | DefinitionEvent> = {
  'benchmark.defined': (tx, { data, occurred_at, actor }) => {
    const { name, version, owner, digest, ...definition } = data
    return tx
      .insertInto('benchmark_versions')
      .values({
        name,
        version,
        owner,
        definition: JSON.stringify(definition),
        defined_at: occurred_at,
        defined_by: actor.id,
      })
      .execute()
  },
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
