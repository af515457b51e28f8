import { type Static, Type } from 'typebox'
import { aggregate, type EventOf, event } from './event.ts'
import { count } from './words.ts'

const orNull = <S extends Parameters<typeof Type.Union>[0][number]>(schema: S) =>
  Type.Union([schema, Type.Null()])

const score = Type.Object({
  metric: Type.String(),
  /** A number, or `"NaN"`, `"Infinity"`, `"-Infinity"`. */
  value: Type.Union([Type.Number(), Type.String()]),
  stderr: orNull(Type.Number()),
  n: orNull(Type.Integer()),
  higher_is_better: orNull(Type.Boolean()),
})

/** Scores of a benchmark were reported; earlier scores of the same result become history. */
export const benchmarkRecorded = event(
  'benchmark.recorded',
  Type.Object({
    run_id: Type.String(),
    /** Identifies repeated measurements: benchmark, version, task, split, artifact or step, and configuration. */
    result_id: Type.String(),
    /** Digest of all fields below. */
    digest: Type.String(),
    benchmark: Type.String(),
    version: orNull(Type.String()),
    task: orNull(Type.String()),
    split: orNull(Type.String()),
    step: orNull(Type.Integer()),
    artifact_id: orNull(Type.String()),
    model: orNull(Type.String()),
    harness: orNull(Type.Record(Type.String(), Type.Unknown())),
    config: Type.Record(Type.String(), Type.Unknown()),
    scores: Type.Array(score),
    samples_uri: orNull(Type.String()),
    started_at: orNull(Type.String()),
    ended_at: orNull(Type.String()),
  }),
  ({ run_id, benchmark, scores }, who) =>
    `${who} recorded ${count(scores.length, 'score')} of ${benchmark} for run ${run_id}`,
)
export type BenchmarkResult = Static<typeof benchmarkRecorded.data>
export type BenchmarkEvent = EventOf<typeof benchmarkRecorded>

export type Benchmarks = {
  /** How often something was recorded. */
  recorded: number
  /** The current digest of each result; look it up with `Object.hasOwn`. */
  results: Readonly<Record<string, string>>
}

export const benchmarks = aggregate('benchmarks', {
  events: [benchmarkRecorded],
  initial: { recorded: 0, results: {} },
  evolve: ({ recorded, results }: Benchmarks, { data }: BenchmarkEvent): Benchmarks => ({
    recorded: recorded + 1,
    results: { ...results, [data.result_id]: data.digest },
  }),
  snapshot: { shape: 1 },
})

/** Benchmark results of a run. */
export const benchmarksAt = (runId: string) => benchmarks.at(runId)
