import { type Static, Type } from 'typebox'
import { metricValue } from './metrics/metrics.ts'
import { byName, closed, nullable, pageQuery, timestamp } from './shared.ts'

/** Maximum samples per call, and maximum body in bytes. */
export const maxSamples = 500
export const maxValidationBytes = 10_000_000
/** Maximum chunks per round. */
export const maxChunks = 10_000
/** Maximum length of a prompt key, in characters. */
export const maxKeyLength = 250

const safeInteger = () =>
  Type.Integer({ minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER })

/** `metricValue` or null. (A union within a union would hide the fault of its branches.) */
const score = () =>
  Type.Union([Type.Number(), Type.Enum(['NaN', 'Infinity', '-Infinity']), Type.Null()])

/**
 * A sample as running code reports it (specification, "Validation sample"). `sample_key` names the prompt; without one it
 * is derived from `user`.
 */
const sampleInput = closed({
  user: Type.Optional(nullable(Type.String())),
  assistant: Type.Optional(nullable(Type.String())),
  env: Type.Optional(Type.Unknown()),
  reward: Type.Optional(score()),
  extra: Type.Optional(nullable(byName(Type.Unknown()))),
  sample_key: Type.Optional(nullable(Type.String({ minLength: 1, maxLength: maxKeyLength }))),
})
export type SampleInput = Static<typeof sampleInput>

/**
 * The body of `POST /api/ingest/validation`: chunk `chunk_index` (from 0) of the `total_chunks` of the round at `step`.
 * Chunks may arrive in any order; one that is sent again replaces the earlier one.
 */
export const validationInput = closed({
  run_id: Type.String({ minLength: 1, maxLength: 128 }),
  step: safeInteger(),
  samples: Type.Array(sampleInput, { maxItems: maxSamples }),
  avg_reward: Type.Optional(score()),
  accuracy: Type.Optional(score()),
  chunk_index: Type.Optional(Type.Integer({ minimum: 0, maximum: maxChunks - 1, default: 0 })),
  total_chunks: Type.Optional(Type.Integer({ minimum: 1, maximum: maxChunks, default: 1 })),
  attempt: Type.Optional(nullable(Type.Integer({ minimum: 1, maximum: 1_000_000 }))),
})
export type ValidationInput = Static<typeof validationInput>

/** `inserted`: samples of this chunk; `received_chunks`: how many different chunks of the round are stored. */
export const validationReply = Type.Object({
  ok: Type.Literal(true),
  step: Type.Integer(),
  inserted: Type.Integer({ minimum: 0 }),
  received_chunks: Type.Integer({ minimum: 1 }),
  total_chunks: Type.Integer({ minimum: 1 }),
  complete: Type.Boolean(),
})

/** Over the finite rewards of the samples; null without any. */
const rewards = Type.Object({
  min: nullable(Type.Number()),
  max: nullable(Type.Number()),
  mean: nullable(Type.Number()),
})

/** A validation round. `missing_chunks` lists the first 100; `avg_reward` and `accuracy` are as reported. */
export const validationRound = Type.Object({
  step: Type.Integer(),
  samples: Type.Integer({ minimum: 0 }),
  received_chunks: Type.Integer({ minimum: 1 }),
  total_chunks: Type.Integer({ minimum: 1 }),
  complete: Type.Boolean(),
  missing_chunks: Type.Array(Type.Integer({ minimum: 0 })),
  avg_reward: nullable(metricValue()),
  accuracy: nullable(metricValue()),
  reward: rewards,
  received_at: timestamp(),
})
export type ValidationRound = Static<typeof validationRound>

/** `sample_key` is the same for the same prompt at every step; null for a sample without a prompt. */
export const validationSample = Type.Object({
  sample_id: Type.String(),
  sample_key: nullable(Type.String()),
  step: Type.Integer(),
  chunk_index: Type.Integer({ minimum: 0 }),
  index: Type.Integer({ minimum: 0 }),
  user: nullable(Type.String()),
  assistant: nullable(Type.String()),
  env: Type.Unknown(),
  reward: nullable(metricValue()),
  extra: nullable(byName(Type.Unknown())),
})
export type ValidationSample = Static<typeof validationSample>

/** Equally wide bins from the lowest to the highest finite reward; the last one includes its `to`. */
export const rewardHistogram = Type.Object({
  step: Type.Integer(),
  samples: Type.Integer({ minimum: 0 }),
  nonfinite: Type.Integer({ minimum: 0 }),
  without_reward: Type.Integer({ minimum: 0 }),
  bins: Type.Array(
    Type.Object({ from: Type.Number(), to: Type.Number(), count: Type.Integer({ minimum: 0 }) }),
  ),
})
export type RewardHistogram = Static<typeof rewardHistogram>

export const roundsQuery = closed({ ...pageQuery, step: Type.Optional(safeInteger()) })

/** By `index` (the order in which they were sent) or `reward`, with `-` before it for descending order. */
export const samplesQuery = closed({
  ...pageQuery,
  sort: Type.Optional(Type.String({ maxLength: 64, default: 'index' })),
})

export const promptQuery = closed(pageQuery)

export const histogramQuery = closed({
  bins: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20 })),
})

const run_id = Type.String({ minLength: 1, maxLength: 128 })
export const roundInPath = Type.Object({ run_id, step: safeInteger() })
export const promptInPath = Type.Object({
  run_id,
  sample_key: Type.String({ minLength: 1, maxLength: maxKeyLength }),
})
