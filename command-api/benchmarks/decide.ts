import type { BenchmarkEvent, BenchmarkResult, Benchmarks } from '../../events/benchmarks.ts'
import { Refusal } from '../../platform/refusal.ts'

/** Results of one run, replaced ones included: each is an event. */
export const maxRecorded = 10_000

/** Records a result, or replaces it; the same one again appends no event. */
export function recordBenchmark(
  { recorded, results }: Benchmarks,
  result: BenchmarkResult,
): BenchmarkEvent[] {
  const { result_id, digest } = result
  if (Object.hasOwn(results, result_id) && results[result_id] === digest) return []
  if (recorded >= maxRecorded)
    throw new Refusal(
      'conflict',
      `The run has recorded ${recorded} benchmark results, including replaced ones, the maximum`,
      { code: 'benchmark.too_many' },
    )
  return [{ type: 'benchmark.recorded', data: result }]
}
