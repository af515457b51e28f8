import { type Static, Type } from 'typebox'
import { metricValue } from '../metrics/metrics.ts'
import { byName, closed, nameText, nullable, pageQuery, timestamp } from '../shared.ts'

/** Maximum body in bytes, and scores per call. */
export const maxBenchmarkBodyBytes = 256 * 1024
export const maxScores = 1000

const name = () => nameText(250)
const named = () => Type.Optional(nullable(name()))
const time = () => Type.Optional(nullable(timestamp()))

const score = closed({
  metric: name(),
  value: metricValue(),
  stderr: Type.Optional(nullable(Type.Number({ minimum: 0 }))),
  n: Type.Optional(nullable(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }))),
  higher_is_better: Type.Optional(nullable(Type.Boolean())),
})

/** The body of `POST /api/ingest/benchmark`: scores that were measured elsewhere. */
export const benchmarkInput = closed({
  run_id: Type.String({ minLength: 1, maxLength: 128 }),
  benchmark: name(),
  version: named(),
  task: named(),
  split: named(),
  step: Type.Optional(nullable(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }))),
  artifact_id: Type.Optional(nullable(Type.String({ minLength: 1, maxLength: 128 }))),
  model: Type.Optional(nullable(Type.String({ maxLength: 4096 }))),
  harness: Type.Optional(nullable(closed({ name: named(), version: named(), commit: named() }))),
  config: Type.Optional(nullable(byName(Type.Unknown(), { maxProperties: 500 }))),
  scores: Type.Array(score, { minItems: 1, maxItems: maxScores }),
  samples_uri: Type.Optional(nullable(Type.String({ minLength: 1, maxLength: 4096 }))),
  started_at: time(),
  ended_at: time(),
})
export type BenchmarkInput = Static<typeof benchmarkInput>

/** `inserted`: how many scores the result has. */
export const benchmarkReply = Type.Object({
  ok: Type.Literal(true),
  result_id: Type.String(),
  inserted: Type.Integer(),
})

export const benchmarksQuery = closed({ benchmark: Type.Optional(name()), ...pageQuery })

const scores = Type.Array(
  Type.Object({
    metric: Type.String(),
    value: metricValue(),
    stderr: nullable(Type.Number()),
    n: nullable(Type.Integer()),
    higher_is_better: nullable(Type.Boolean()),
  }),
)
const ofText = () => nullable(Type.String())

/** A current result; `history` has up to 20 earlier versions, newest first. */
export const benchmarkRow = Type.Object({
  result_id: Type.String(),
  benchmark: Type.String(),
  version: ofText(),
  task: ofText(),
  split: ofText(),
  step: nullable(Type.Integer()),
  artifact_id: ofText(),
  model: ofText(),
  harness: nullable(Type.Record(Type.String(), Type.Unknown())),
  config: Type.Record(Type.String(), Type.Unknown()),
  scores,
  samples_uri: ofText(),
  started_at: ofText(),
  ended_at: ofText(),
  recorded_at: timestamp(),
  history: Type.Array(
    Type.Object({ recorded_at: timestamp(), model: ofText(), samples_uri: ofText(), scores }),
  ),
})
export type BenchmarkRow = Static<typeof benchmarkRow>
