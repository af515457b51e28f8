import { type Static, Type } from 'typebox'
import { byName, closed, nullable, oneOf, pageQuery, timestamp } from '../shared.ts'
import { rubricInput } from './rubrics.ts'

/** Samples that a test scores, and that one judging scores at most. */
export const maxTested = 20
export const maxJudged = 1000
const defaultJudged = 200

const id = () => Type.String({ minLength: 1, maxLength: 128 })
const step = Type.Integer({ minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER })

/** The body of `POST /api/rubrics/{owner}/{name}/test`. */
export const rubricTestInput = closed({
  run_id: id(),
  /** The newest round by default. */
  step: Type.Optional(nullable(step)),
  /** The deployment that judges. */
  judge: id(),
  limit: Type.Integer({ minimum: 1, maximum: maxTested, default: maxTested }),
  /** Judges by this content instead, which is not saved either. */
  draft: Type.Optional(rubricInput),
})
export type RubricTestInput = Static<typeof rubricTestInput>

const scored = {
  sample_id: Type.String(),
  /** Null if there is none; `error` has the reason. */
  score: nullable(Type.Number()),
  /** Scores by the name of a criterion. */
  criteria: byName(Type.Number()),
  /** The judge's own words. */
  reason: nullable(Type.String()),
  error: nullable(Type.String()),
}

/** Nothing of it is stored. */
export const rubricTested = Type.Object({
  version: Type.Integer(),
  step: Type.Integer(),
  judge: Type.String(),
  results: Type.Array(
    Type.Object({
      ...scored,
      user: nullable(Type.String()),
      assistant: nullable(Type.String()),
    }),
  ),
})
export type RubricTested = Static<typeof rubricTested>

/** The body of `POST /api/runs/{run_id}/judgings`. */
export const judgingInput = closed({
  /** `owner/name`. */
  rubric: Type.String({ minLength: 3, maxLength: 257, pattern: '^[^/]+/[^/]+$' }),
  judge: id(),
  /** The newest round by default. */
  step: Type.Optional(nullable(step)),
  /** Judges the first samples, at most this many. */
  limit: Type.Integer({ minimum: 1, maximum: maxJudged, default: defaultJudged }),
})

const judged = {
  judging_id: Type.String(),
  run_id: Type.String(),
  step: Type.Integer(),
  rubric: Type.String(),
  version: Type.Integer(),
}

export const judgingCreated = Type.Object({
  ...judged,
  state: Type.Literal('running'),
})

/** `changed`: false if it had ended before. */
export const judgingCancelled = Type.Object({ judging_id: Type.String(), changed: Type.Boolean() })

export const judgingPath = Type.Object({ run_id: id(), judging_id: id() })
export const judgingsQuery = closed({ step: Type.Optional(step), ...pageQuery })
export const judgementsQuery = closed(pageQuery)

export const judging = Type.Object({
  ...judged,
  /** False once the rubric has another version, which retired the scores. */
  is_current: Type.Boolean(),
  /** Null for readers of the run who may not see the deployment. */
  judge: nullable(Type.Object({ deployment_id: Type.String(), revision_id: Type.String() })),
  state: oneOf('running', 'succeeded', 'failed', 'cancelled'),
  reason: nullable(Type.String()),
  /** How many samples it judges; null before they were read. */
  samples: nullable(Type.Integer()),
  scored: Type.Integer(),
  /** Scores that this judge had given before. */
  cached: Type.Integer(),
  failed: Type.Integer(),
  /** The mean of the scores; null without any. */
  mean: nullable(Type.Number()),
  requested_by: Type.String(),
  created_at: timestamp(),
  ended_at: nullable(timestamp()),
})
export type JudgingRecord = Static<typeof judging>

export const judgement = Type.Object({
  ...scored,
  outcome: oneOf('scored', 'cached', 'failed'),
})
export type Judgement = Static<typeof judgement>
