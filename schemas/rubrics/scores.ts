import { type Static, Type } from 'typebox'
import { byName, closed, nameText, timestamp } from '../shared.ts'

/** Maximum scores per call, and kept per rubric version; beyond that, the oldest are dropped. */
export const maxScoresOfCall = 500
export const maxScoresKept = 100_000
/** Largest body that stores scores, in bytes. */
export const maxScoresBodyBytes = 1024 * 1024

/** The judge: model and revision, for instance `qwen3-32b@1a2b3c`. Each judge has its own scores. */
const judge = () => nameText(250)

/** The digest of the judged text, so that the same text is judged only once (docs/use/validation.md). */
const sample = () => Type.String({ minLength: 1, maxLength: 128 })

const scoreFields = {
  sample: sample(),
  score: Type.Number(),
  /** Scores by the name of a criterion. */
  criteria: Type.Optional(byName(Type.Number(), { maxProperties: 20 })),
}

const stored = {
  version: Type.Integer({ minimum: 1, maximum: 2_147_483_647 }),
  judge: judge(),
  scores: Type.Array(closed(scoreFields), { minItems: 1, maxItems: maxScoresOfCall }),
}

const asked = {
  judge: judge(),
  samples: Type.Array(sample(), { minItems: 1, maxItems: maxScoresOfCall }),
}

/** Additional fields from running code. */
const ofRun = {
  run_id: Type.String({ minLength: 1, maxLength: 128 }),
  /** `owner/name`. */
  rubric: Type.String({ minLength: 1, maxLength: 257 }),
}

export const scoresInput = closed(stored)
export const scoresLookup = closed(asked)
export const scoresOfRunInput = closed({ ...ofRun, ...stored })
export const scoresOfRunLookup = closed({ ...ofRun, ...asked })
export type ScoresInput = Static<typeof scoresInput>
export type ScoresLookup = Static<typeof scoresLookup>

/** `stored`: how many samples have a new score; `replaced`: how many had one by this judge before. */
export const scoresReply = Type.Object({
  ok: Type.Literal(true),
  version: Type.Integer(),
  stored: Type.Integer(),
  replaced: Type.Integer(),
})
export type ScoresReply = Static<typeof scoresReply>

/** Scores of the current `version`; `missing`: samples without one. */
export const scoresFound = Type.Object({
  version: Type.Integer(),
  judge: Type.String(),
  scores: Type.Array(
    Type.Object({
      sample: Type.String(),
      score: Type.Number(),
      criteria: byName(Type.Number()),
      scored_at: timestamp(),
    }),
  ),
  missing: Type.Array(Type.String()),
})
export type ScoresFound = Static<typeof scoresFound>
