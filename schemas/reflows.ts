import { type Static, Type } from 'typebox'
import { closed, nameText, nullable, oneOf, pageQuery, timestamp } from './shared.ts'

export const reflowLimits = {
  /** Reflows of a person. */
  ofPerson: 500,
  /** Rows of one version, and characters of all of them together. A firing that reaches either leaves the rest for the next. */
  rows: 50_000,
  characters: 64_000_000,
  /** Rows that a preview looks at, and that it shows. */
  previewed: 2_000,
  shown: 20,
} as const

/** `email`, `phone`, `card` (by its check digit), `ip`: addresses; `key`: API keys and other secrets. */
export const scrubKinds = ['email', 'phone', 'card', 'ip', 'key'] as const
export type ScrubKind = (typeof scrubKinds)[number]

/** `exact`: of rows with equal content only the first; `prompt`: of rows with an equal prompt. */
export const dedupeKinds = ['none', 'exact', 'prompt'] as const

/** `new`: what arrived since the last firing; `all`: everything that is kept. */
export const takeKinds = ['new', 'all'] as const

const sourceTypes = ['traffic', 'samples', 'annotations'] as const

/** A source has the field of its type alone: `deployment_id`, `run_id` with `step` (null: the newest round), or `queue_id`. */
const sourceInput = closed({
  type: oneOf(...sourceTypes),
  deployment_id: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
  run_id: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
  step: Type.Optional(
    nullable(Type.Integer({ minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER })),
  ),
  queue_id: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
})

const rubricRef = () =>
  Type.String({ maxLength: 280, pattern: '^[^/@]{1,128}/[^/@]{1,128}@[1-9][0-9]{0,8}$' })
const datasetName = () =>
  Type.String({ maxLength: 257, pattern: '^[^/@]{1,128}/[a-zA-Z0-9][a-zA-Z0-9_.-]{0,127}$' })

/** The body of `POST /api/reflows`. */
export const reflowInput = closed({
  name: nameText(128),
  source: sourceInput,
  /** In the search grammar, over the fields of the source (docs/use/reflow.md). */
  filter: Type.Optional(Type.String({ maxLength: 1000, default: '' })),
  dedupe: Type.Optional(oneOf(...dedupeKinds)),
  /** All kinds unless given; an empty list scrubs nothing. */
  scrub: Type.Optional(Type.Array(oneOf(...scrubKinds), { maxItems: scrubKinds.length })),
  /** The share of rows that is taken, decided by a hash of each: a row that is taken once is taken at every higher rate. */
  sample_rate: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 1, default: 1 })),
  /** Only rows whose newest score by this rubric reaches the minimum. */
  rubric: Type.Optional(nullable(closed({ ref: rubricRef(), min_score: Type.Number() }))),
  take: Type.Optional(oneOf(...takeKinds)),
  target_dataset: datasetName(),
})
export type ReflowInput = Static<typeof reflowInput>

/** A source as recorded: the fields of other types are null. */
export const reflowSource = Type.Object({
  type: oneOf(...sourceTypes),
  deployment_id: nullable(Type.String()),
  run_id: nullable(Type.String()),
  step: nullable(Type.Integer()),
  queue_id: nullable(Type.String()),
})
export type ReflowSource = Static<typeof reflowSource>

/** What decides which rows become a version. */
export const reflowRule = {
  source: reflowSource,
  filter: Type.String(),
  dedupe: oneOf(...dedupeKinds),
  scrub: Type.Array(oneOf(...scrubKinds)),
  sample_rate: Type.Number(),
  rubric: nullable(Type.Object({ ref: Type.String(), min_score: Type.Number() })),
  take: oneOf(...takeKinds),
  target_dataset: Type.String(),
}
const rule = Type.Object(reflowRule)
export type ReflowRule = Static<typeof rule>

const count = () => Type.Integer({ minimum: 0 })

/** What became of the rows that a firing looked at: each is in exactly one of the figures up to `taken`. */
export const reflowCounts = Type.Object({
  seen: count(),
  /** No question with an answer in text, or too deeply nested. */
  unreadable: count(),
  /** The person asked to be erased. */
  erased: count(),
  filtered: count(),
  unsampled: count(),
  /** Without a score by the rubric, or with a lower one. */
  unscored: count(),
  duplicates: count(),
  taken: count(),
  /** How often something of each kind was scrubbed from the taken rows. */
  scrubbed: Type.Object({
    email: count(),
    phone: count(),
    card: count(),
    ip: count(),
    key: count(),
  }),
})
export type ReflowCounts = Static<typeof reflowCounts>

const reflowId = () => Type.String({ minLength: 1, maxLength: 128 })
export const reflowPath = Type.Object({ reflow_id: reflowId() })
export const reflowListQuery = closed(pageQuery)

/** `window`: a name, for instance the hour that it is for; a second run of the same window is the first one again. */
export const reflowRunInput = closed({
  window: Type.Optional(nullable(nameText(128))),
})

const firingStates = ['running', 'succeeded', 'empty', 'failed'] as const

export const reflowCreated = Type.Object({
  reflow_id: Type.String(),
  name: Type.String(),
  target_dataset: Type.String(),
})
/** `created`: false if this window had been fired before, or another firing was under way. */
export const reflowRunStarted = Type.Object({
  reflow_id: Type.String(),
  firing: Type.Integer({ minimum: 1 }),
  state: oneOf(...firingStates),
  created: Type.Boolean(),
})
export const reflowDeleted = Type.Object({ ok: Type.Literal(true), reflow_id: Type.String() })

export const reflowPreview = Type.Object({
  reflow_id: Type.String(),
  counts: reflowCounts,
  /** Whether there is more than a preview looks at. */
  truncated: Type.Boolean(),
  /** The first rows that would be taken, after scrubbing. */
  rows: Type.Array(
    Type.Object({
      source: Type.String(),
      at: nullable(timestamp()),
      row: Type.Unknown(),
      /** The kinds that were scrubbed from it. */
      scrubbed: Type.Array(oneOf(...scrubKinds)),
      score: nullable(Type.Number()),
      /** The digest under which judges keep a score; null where scores do not apply. */
      sample: nullable(Type.String()),
    }),
  ),
  /** The captured requests of the deployment; null for other sources. */
  captured: nullable(
    Type.Object({
      /** At most 100,000 are counted. */
      kept: count(),
      oldest_at: nullable(timestamp()),
      /** Requests that could not be kept, since the deployment exists. */
      dropped: count(),
      dropped_at: nullable(timestamp()),
      /** Sealed, as stored. Beyond `limit_bytes` the oldest are `evicted`. */
      bytes: count(),
      limit_bytes: count(),
      evicted: count(),
      evicted_at: nullable(timestamp()),
      retention_days: count(),
    }),
  ),
})
export type ReflowPreview = Static<typeof reflowPreview>

/** The rows of one person, by the name that requests give in `user`, or all rows of a token. */
export const eraseInput = closed({
  deployment_id: Type.String({ minLength: 1, maxLength: 128 }),
  user: Type.Optional(Type.String({ minLength: 1, maxLength: 1024 })),
  token_id: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
})
export type EraseInput = Static<typeof eraseInput>

export const reflowErased = Type.Object({
  deployment_id: Type.String(),
  /** Captured requests that were deleted. */
  deleted: count(),
  /** Versions made before that have rows of this person or token, newest first. */
  versions: Type.Array(Type.String()),
  /** Models and runs that came from these versions, as far as the caller may read them. */
  models: Type.Array(Type.String()),
  runs: Type.Array(Type.String()),
  /** Whether there are more versions than are listed. */
  truncated: Type.Boolean(),
})
export type ReflowErased = Static<typeof reflowErased>

export const reflowRow = Type.Object({
  reflow_id: Type.String(),
  name: Type.String(),
  owner: Type.String(),
  ...reflowRule,
  schedule_id: Type.Null(),
  /** The newest version made by it. */
  last_version: nullable(Type.String()),
  /** `running`: a firing is under way. */
  state: oneOf('idle', 'running', 'failed'),
  firings: count(),
  created_at: timestamp(),
  updated_at: timestamp(),
})
export type ReflowRow = Static<typeof reflowRow>

export const reflowFiring = Type.Object({
  firing: Type.Integer({ minimum: 1 }),
  window: nullable(Type.String()),
  state: oneOf(...firingStates),
  /** The version that it made, or whose rows are the same; null if it made none. */
  ref: nullable(Type.String()),
  /** Whether a version was made. */
  created: Type.Boolean(),
  reason: nullable(Type.String()),
  counts: nullable(reflowCounts),
  started_at: timestamp(),
  ended_at: nullable(timestamp()),
})

export const reflowDetail = Type.Object({
  ...reflowRow.properties,
  /** The newest 50. */
  fired: Type.Array(reflowFiring),
})
export type ReflowDetail = Static<typeof reflowDetail>
