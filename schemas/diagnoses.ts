import { type Static, Type } from 'typebox'
import { failureCategories } from './failure-categories.ts'
import { closed, nullable, oneOf, pageQuery, timestamp } from './shared.ts'

export type FailureCategory = (typeof failureCategories)[number]

/** Limits of one diagnosis: pieces of evidence, and characters of an excerpt. */
export const maxEvidence = 8
export const maxExcerpt = 1200

const place = {
  node: nullable(Type.String()),
  rank: nullable(Type.Integer({ minimum: 0 })),
}

/**
 * The evidence of a diagnosis. `log`: `offset` is the `seq` of the line; `metric`: a point; `hardware`: a sample of a
 * device; `exit`: how the attempt ended. Excerpts hold no secrets.
 */
export const evidence = Type.Object({
  kind: oneOf('log', 'metric', 'hardware', 'exit'),
  ref: Type.Union([
    Type.Object({ offset: Type.Integer({ minimum: 1 }), ...place }),
    Type.Object({ key: Type.String(), step: Type.Integer() }),
    Type.Object({
      ts: timestamp(),
      node: nullable(Type.String()),
      index: nullable(Type.Integer({ minimum: 0 })),
    }),
    Type.Object({ attempt: nullable(Type.Integer({ minimum: 0 })) }),
  ]),
  excerpt: Type.String(),
  /** How much it counts, 0 to 1. */
  weight: Type.Number({ minimum: 0, maximum: 1 }),
})
export type Evidence = Static<typeof evidence>

/** `patch`: a JSON merge patch of the job's spec; null if a person has to act. */
export const suggestion = Type.Object({
  title: Type.String(),
  kind: oneOf('spec_patch', 'action'),
  patch: nullable(Type.Record(Type.String(), Type.Unknown())),
  risk: oneOf('low', 'medium', 'high'),
})
export type Suggestion = Static<typeof suggestion>

/** The first process that failed, as far as it is known. */
export const failureOrigin = Type.Object({
  ...place,
  at: nullable(timestamp()),
  step: nullable(Type.Integer()),
})

export const blames = ['user', 'platform', 'hardware', 'external', 'unknown'] as const

/** The findings of the rules. */
export const verdict = {
  category: oneOf(...failureCategories),
  subcategory: nullable(Type.String()),
  blame: oneOf(...blames),
  confidence: Type.Number({ minimum: 0, maximum: 1 }),
  title: Type.String(),
  root_cause: Type.String(),
  origin: failureOrigin,
  evidence: Type.Array(evidence),
  suggestions: Type.Array(suggestion),
  /** Equal for similar failures: computed without numbers, addresses and paths. */
  fingerprint: Type.String(),
}
export const verdictOf = Type.Object(verdict)
export type Verdict = Static<typeof verdictOf>

/** `llm`: the model that wrote a summary; null without one. */
export const analyzer = Type.Object({ rules: Type.String(), llm: nullable(Type.String()) })

/** The body of `POST /api/job/diagnose` (specification, "Jobs and runs"); a run without a job is named in the same way. */
export const diagnoseInput = closed({ job_id: Type.String({ minLength: 1, maxLength: 128 }) })

export const diagnoseReply = Type.Object({
  diagnosis_id: Type.Integer({ minimum: 1 }),
  status: oneOf('pending'),
})

/** `superseded`: there is a newer request. */
export const diagnosisStates = ['pending', 'running', 'succeeded', 'failed', 'superseded'] as const

const unlessPending = Object.fromEntries(
  Object.entries(verdict).map(([name, schema]) => [name, nullable(schema)]),
) as { [K in keyof typeof verdict]: ReturnType<typeof nullable<(typeof verdict)[K]>> }

/** The record (contract, "Diagnosis record"). The findings are null until the rules have run. */
export const diagnosis = Type.Object({
  diagnosis_id: Type.Integer({ minimum: 1 }),
  job_id: Type.String(),
  run_id: Type.String(),
  /** Null for runs without a job. */
  attempt: nullable(Type.Integer({ minimum: 0 })),
  status: oneOf(...diagnosisStates),
  /** `auto`: the run failed. */
  trigger: oneOf('auto', 'manual'),
  requested_by: Type.String(),
  created_at: timestamp(),
  started_at: nullable(timestamp()),
  finished_at: nullable(timestamp()),
  ...unlessPending,
  /** Runs of the last 30 days with the same fingerprint that the reader may see; the newest are named. */
  similar: Type.Object({
    count_30d: Type.Integer({ minimum: 0 }),
    run_ids: Type.Array(Type.String()),
  }),
  /** Null until the rules ran. */
  analyzer: nullable(analyzer),
  /** What plugins said about the result, oldest first; `model`: the language model that wrote it, if one did. Nothing acts on it. */
  comments: Type.Array(
    Type.Object({
      plugin: Type.String(),
      model: nullable(Type.String()),
      words: Type.String(),
      at: timestamp(),
    }),
  ),
  /** Why there is no result, for `failed`. */
  error: nullable(Type.String()),
  feedback: Type.Null(),
})
export type Diagnosis = Static<typeof diagnosis>

export const diagnosisInPath = Type.Object({
  diagnosis_id: Type.Integer({ minimum: 1, maximum: 2_147_483_647 }),
})
export const diagnosisListQuery = closed(pageQuery)

/** `since`: the start of the window, at most 90 days ago; by default 29 days before today, at midnight UTC. */
export const fingerprintListQuery = closed({
  ...pageQuery,
  project: Type.Optional(Type.String({ maxLength: 128 })),
  owner: Type.Optional(Type.String({ maxLength: 128 })),
  category: Type.Optional(oneOf(...failureCategories)),
  since: Type.Optional(timestamp()),
})
export type FingerprintListQuery = Static<typeof fingerprintListQuery>

const failureCount = () => Type.Integer({ minimum: 0 })

/**
 * Failures with one fingerprint, as far as the reader may see them. Each run counts once, at its end, with its newest
 * diagnosis that has a result.
 */
export const fingerprintRow = Type.Object({
  fingerprint: Type.String(),
  /** From the newest of these runs. */
  title: Type.String(),
  category: verdict.category,
  blame: verdict.blame,
  count: failureCount(),
  /** In the window of equal length before this one. */
  previous_count: failureCount(),
  /** `new`: not seen before the window, within a year; otherwise how the two counts compare. */
  trend: oneOf('new', 'up', 'same', 'down'),
  /** How many projects and owners the runs of the window have. */
  projects: failureCount(),
  owners: failureCount(),
  /** Within the last year. */
  first_seen: timestamp(),
  last_seen: timestamp(),
  /** The UTC days of the window, the oldest first; only the last 30 of a longer one. */
  daily: Type.Array(Type.Object({ day: Type.String(), count: failureCount() })),
  /** The newest five. */
  runs: Type.Array(
    Type.Object({
      run_id: Type.String(),
      short_id: Type.String(),
      project: Type.String(),
      owner: Type.String(),
      ended_at: timestamp(),
    }),
  ),
})
export type FingerprintRow = Static<typeof fingerprintRow>
