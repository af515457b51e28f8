import test from 'ava'
import { maxRecorded, recordBenchmark } from '../../command-api/benchmarks/decide.ts'
import { type BenchmarkResult, type Benchmarks, benchmarks } from '../../events/benchmarks.ts'
import { Refusal } from '../../platform/refusal.ts'
import { folded } from '../folded.ts'

const result = (result_id: string, digest: string): BenchmarkResult => ({
  run_id: 'run_1',
  result_id,
  digest,
  benchmark: 'gsm8k',
  version: null,
  task: null,
  split: null,
  step: null,
  artifact_id: null,
  model: null,
  harness: null,
  config: {},
  scores: [],
  samples_uri: null,
  started_at: null,
  ended_at: null,
})

test('a result is recorded once, and again when it differs', t => {
  const first = recordBenchmark(benchmarks.initial, result('a', 'd'))
  const state = folded(benchmarks, first)
  t.deepEqual(recordBenchmark(state, result('a', 'd')), [])
  t.is(recordBenchmark(state, result('a', 'e')).length, 1)
  t.is(recordBenchmark(state, result('constructor', 'd')).length, 1)
  t.deepEqual(folded(benchmarks, [...first, ...recordBenchmark(state, result('a', 'e'))]), {
    recorded: 2,
    results: { a: 'e' },
  })
})

test('a run records at most 10,000 results, repeated ones are still accepted', t => {
  const state: Benchmarks = { recorded: maxRecorded - 1, results: { a: 'd' } }
  t.is(recordBenchmark(state, result('b', 'd')).length, 1)
  const full = { ...state, recorded: maxRecorded }
  t.throws(() => recordBenchmark(full, result('b', 'd')), { instanceOf: Refusal, code: 'conflict' })
  t.deepEqual(recordBenchmark(full, result('a', 'd')), [])
})
