import { type Static, Type } from 'typebox'
import { metricValue } from '../metrics/metrics.ts'
import { closed, nameText, nullable, pageQuery, timestamp } from '../shared.ts'

/** Letters, digits, `.`, `_` and `-`: `@` separates the version. */
const benchmarkName = () =>
  Type.String({ minLength: 1, maxLength: 128, pattern: '^[A-Za-z0-9][A-Za-z0-9._-]*$' })
const named = () => nullable(nameText(250))

export const benchmarkPath = Type.Object({ name: benchmarkName() })

const harness = closed({
  name: nameText(250),
  version: Type.Optional(named()),
  commit: Type.Optional(named()),
})

/** The body of `PUT /api/benchmarks/{name}`. */
export const definitionInput = closed({
  /** The metric that orders the leaderboard. */
  metric: nameText(250),
  higher_is_better: Type.Optional(Type.Boolean({ default: true })),
  /** Only results of this task and split are on the leaderboard; absent or null: results without one. */
  task: Type.Optional(named()),
  split: Type.Optional(named()),
  /** Its data, e.g. `owner/name@3`. */
  dataset: Type.Optional(named()),
  harness: Type.Optional(nullable(harness)),
  description: Type.Optional(Type.String({ maxLength: 4096 })),
})
export type DefinitionInput = Static<typeof definitionInput>

const definition = {
  metric: Type.String(),
  higher_is_better: Type.Boolean(),
  task: nullable(Type.String()),
  split: nullable(Type.String()),
  dataset: nullable(Type.String()),
  harness: nullable(
    Type.Object({
      name: Type.String(),
      version: nullable(Type.String()),
      commit: nullable(Type.String()),
    }),
  ),
  description: Type.String(),
}

/** A version of a benchmark; versions never change. */
export const benchmarkDefinition = Type.Object(definition)
export type BenchmarkDefinition = Static<typeof benchmarkDefinition>

export const definedReply = Type.Object({
  ref: Type.String(),
  name: Type.String(),
  version: Type.Integer(),
  /** False if the newest version says the same. */
  changed: Type.Boolean(),
})

export const benchmarkRecord = Type.Object({
  name: Type.String(),
  owner: Type.String(),
  version: Type.Integer(),
  ...definition,
  created_at: timestamp(),
  defined_at: timestamp(),
  defined_by: Type.String(),
})
export type BenchmarkRecord = Static<typeof benchmarkRecord>

export const benchmarkListQuery = closed({
  /** Part of the name. */
  q: Type.Optional(Type.String({ maxLength: 250 })),
  ...pageQuery,
})

export const versionQuery = closed({
  /** The newest one by default. */
  version: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
})

export const versionListQuery = closed(pageQuery)

export const historyQuery = closed({
  ...versionQuery.properties,
  project: Type.Optional(Type.String({ maxLength: 128 })),
  ...pageQuery,
})

/** `each`: only the best result of each run (default), or every result. */
export const leaderboardQuery = closed({
  ...versionQuery.properties,
  project: Type.Optional(Type.String({ maxLength: 128 })),
  each: Type.Optional(Type.Union([Type.Literal('run'), Type.Literal('result')])),
  ...pageQuery,
})

const scoreOfRun = {
  run_id: Type.String(),
  short_id: Type.String(),
  run_name: Type.String(),
  project: Type.String(),
  owner: Type.String(),
  value: metricValue(),
  /** Standard error of `value`. */
  stderr: nullable(Type.Number()),
  n: nullable(Type.Integer()),
  step: nullable(Type.Integer()),
  artifact_id: nullable(Type.String()),
  model: nullable(Type.String()),
  result_id: Type.String(),
  recorded_at: timestamp(),
}

/** A place on the leaderboard: a result of a run that the caller may read. */
export const leaderboardRow = Type.Object({
  /** From 1; equal values share a rank. Values that are not numbers come last. */
  rank: Type.Integer(),
  ...scoreOfRun,
})
export type LeaderboardRow = Static<typeof leaderboardRow>

/** A score at the time it was recorded. */
export const historyRow = Type.Object({
  ...scoreOfRun,
  /** The recipe of the run's job; null without a job. */
  recipe: nullable(Type.String()),
  /** False if a later report replaced it. */
  is_current: Type.Boolean(),
})
export type HistoryRow = Static<typeof historyRow>
