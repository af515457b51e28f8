import { type Static, Type } from 'typebox'
import { byName, closed, nameText, nullable, oneOf, pageQuery, timestamp } from './shared.ts'

export const annotationLimits = {
  /** Items of a queue. */
  items: 10_000,
  /** Characters of all items of a queue together. */
  characters: 32_000_000,
  /** Queues of a project. */
  ofProject: 1000,
  /** People who answer the same item. */
  overlap: 10,
  /** Characters of an edited text. */
  text: 100_000,
  /** How long an item is kept for the person who claimed it, in milliseconds. */
  leaseMs: 15 * 60_000,
} as const

/** `pairwise`: which of two answers is better; `rubric`: scores by criteria; `edit`: a corrected text. */
export const annotationKinds = ['pairwise', 'rubric', 'edit'] as const
export type AnnotationKind = (typeof annotationKinds)[number]

/** `traffic` joins this list once requests to deployments are captured. */
const sourceTypes = ['samples', 'dataset'] as const

const safeInteger = () =>
  Type.Integer({ minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER })
const runId = () => Type.String({ minLength: 1, maxLength: 128 })

/**
 * `samples`: all of a run, or one round with `step`. A pairwise queue pairs samples of one prompt: with their counterparts in `against`
 * (another run of the project, another round, or both), else with each other. `dataset`: the rows of a split.
 */
const sourceInput = closed({
  type: oneOf(...sourceTypes),
  run_id: Type.Optional(runId()),
  step: Type.Optional(nullable(safeInteger())),
  against: Type.Optional(
    nullable(
      closed({ run_id: Type.Optional(runId()), step: Type.Optional(nullable(safeInteger())) }),
    ),
  ),
  ref: Type.Optional(
    Type.String({ maxLength: 256, pattern: '^[^/@]{1,128}/[^/@]{1,128}@[1-9][0-9]{0,8}$' }),
  ),
  split: Type.Optional(nullable(Type.String({ minLength: 1, maxLength: 64 }))),
})

/** The body of `POST /api/annotations`. `rubric`: `owner/name@version`, which must be the current version. */
export const annotationInput = closed({
  name: nameText(128),
  project: Type.String({ minLength: 1, maxLength: 128 }),
  kind: oneOf(...annotationKinds),
  source: sourceInput,
  rubric: Type.Optional(
    nullable(
      Type.String({ maxLength: 280, pattern: '^[^/@]{1,128}/[^/@]{1,128}@[1-9][0-9]{0,8}$' }),
    ),
  ),
  instructions: Type.Optional(Type.String({ maxLength: 20_000, default: '' })),
  overlap: Type.Optional(
    Type.Integer({ minimum: 1, maximum: annotationLimits.overlap, default: 1 }),
  ),
  /** At most this many items, the first ones. */
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: annotationLimits.items, default: annotationLimits.items }),
  ),
})
export type AnnotationInput = Static<typeof annotationInput>

/** Where the items come from, as recorded. */
export const annotationSource = Type.Object({
  type: oneOf(...sourceTypes),
  run_id: nullable(Type.String()),
  step: nullable(Type.Integer()),
  against: nullable(Type.Object({ run_id: Type.String(), step: nullable(Type.Integer()) })),
  ref: nullable(Type.String()),
  split: nullable(Type.String()),
})
export type AnnotationSource = Static<typeof annotationSource>

/** The rubric of a queue, frozen when the queue was created. */
export const annotationRubric = Type.Object({
  /** `owner/name@version`. */
  ref: Type.String(),
  scale_min: Type.Number(),
  scale_max: Type.Number(),
  criteria: Type.Array(
    Type.Object({ name: Type.String(), weight: Type.Number(), description: Type.String() }),
  ),
})
export type AnnotationRubric = Static<typeof annotationRubric>

const queueId = () => Type.String({ minLength: 1, maxLength: 128 })
const itemNumber = () => Type.Integer({ minimum: 1, maximum: annotationLimits.items })

export const annotationPath = Type.Object({ queue_id: queueId() })
export const annotationItemPath = Type.Object({ queue_id: queueId(), item: itemNumber() })
export const annotationListQuery = closed({
  ...pageQuery,
  project: Type.Optional(Type.String({ maxLength: 128 })),
  state: Type.Optional(oneOf('open', 'closed')),
})
export const annotationHistoryQuery = closed(pageQuery)

const choice = () => oneOf('a', 'b', 'tie')

/** The field of the queue's kind is required. */
const answerInput = closed({
  choice: Type.Optional(choice()),
  scores: Type.Optional(byName(Type.Number(), { maxProperties: 20 })),
  text: Type.Optional(Type.String({ maxLength: annotationLimits.text })),
})
export type AnswerInput = Static<typeof answerInput>

/** An answer, as recorded; the fields of other kinds are null. */
export const annotationAnswer = Type.Object({
  choice: nullable(choice()),
  scores: nullable(byName(Type.Number())),
  text: nullable(Type.String()),
})
export type AnnotationAnswer = Static<typeof annotationAnswer>

/** What a judge said before people did: the rewards of samples, or the label of a preference row. */
export const annotationJudge = Type.Object({
  choice: nullable(choice()),
  score: nullable(Type.Number()),
})
export type AnnotationJudge = Static<typeof annotationJudge>

export const answerBody = closed({ item: itemNumber(), answer: answerInput })
/** Names the item, so that a repeated request skips nothing else. */
export const itemBody = closed({ item: itemNumber() })
/** Names the answer or skip by its time, so that a repeated request undoes no later one of the same item. */
export const undoBody = closed({ item: itemNumber(), decided_at: timestamp() })

export const annotationCreated = Type.Object({
  queue_id: Type.String(),
  name: Type.String(),
  project: Type.String(),
  items: Type.Integer({ minimum: 1 }),
  /** Items of the source beyond the limit. */
  left_out: Type.Integer({ minimum: 0 }),
})

/** What `undo` takes. */
const lastDecided = Type.Object({ item: Type.Integer({ minimum: 1 }), decided_at: timestamp() })

/** `item` null: nothing is left for the caller now; `held`: items that others are at, which may come free. */
export const annotationClaim = Type.Object({
  item: nullable(
    Type.Object({
      item: Type.Integer({ minimum: 1 }),
      digest: Type.String(),
      /** The messages before the answer. */
      prompt: Type.Array(Type.Unknown()),
      /** Two of a pairwise item, `a` and `b`; one otherwise. */
      responses: Type.Array(Type.String()),
      sources: Type.Array(Type.String()),
    }),
  ),
  expires_at: nullable(timestamp()),
  /** An answer that came after the lease, or that was undone. */
  draft: nullable(annotationAnswer),
  held: Type.Integer({ minimum: 0 }),
  /** What the caller answered or skipped last, which `undo` takes back. */
  last: nullable(lastDecided),
})
export type AnnotationClaim = Static<typeof annotationClaim>

/** `changed`: false if it was so already. `decided_at`: names the answer or skip for `undo`; null after one. */
export const itemAnswered = Type.Object({
  queue_id: Type.String(),
  item: Type.Integer({ minimum: 1 }),
  changed: Type.Boolean(),
  decided_at: nullable(timestamp()),
})
export const queueChanged = Type.Object({
  queue_id: Type.String(),
  state: oneOf('open', 'closed'),
  changed: Type.Boolean(),
})

const datasetName = () =>
  Type.String({
    maxLength: 257,
    pattern: '^[^/@]{1,128}/[a-zA-Z0-9][a-zA-Z0-9_.-]{0,127}$',
  })
/** `dataset`: `owner/name`; its next version is made. */
export const annotationExport = closed({ dataset: datasetName() })
export const annotationExported = Type.Object({
  queue_id: Type.String(),
  ref: Type.String(),
  rows: Type.Integer({ minimum: 1 }),
  /** Whether a version was made: false if the newest one has the same rows. */
  created: Type.Boolean(),
})

const progress = {
  items: Type.Integer({ minimum: 0 }),
  /** Items that need no further answer. */
  completed: Type.Integer({ minimum: 0 }),
  answers: Type.Integer({ minimum: 0 }),
  skips: Type.Integer({ minimum: 0 }),
}

export const annotationRow = Type.Object({
  queue_id: Type.String(),
  name: Type.String(),
  project: Type.String(),
  owner: Type.String(),
  kind: oneOf(...annotationKinds),
  state: oneOf('open', 'closed'),
  overlap: Type.Integer({ minimum: 1 }),
  source: annotationSource,
  ...progress,
  created_at: timestamp(),
  updated_at: timestamp(),
})
export type AnnotationRow = Static<typeof annotationRow>

export const annotationDetail = Type.Object({
  ...annotationRow.properties,
  instructions: Type.String(),
  rubric: nullable(annotationRubric),
  people: Type.Array(
    Type.Object({
      username: Type.String(),
      answers: Type.Integer({ minimum: 0 }),
      skips: Type.Integer({ minimum: 0 }),
    }),
  ),
  /** The versions of datasets made from it, newest first. */
  exports: Type.Array(
    Type.Object({ ref: Type.String(), rows: Type.Integer(), exported_at: timestamp() }),
  ),
  /** `annotate`: claim and answer; `manage`: also close, reopen and export. */
  may: oneOf('read', 'annotate', 'manage'),
})
export type AnnotationDetail = Static<typeof annotationDetail>

/** Something that happened to an item, newest first. */
export const annotationHistoryRow = Type.Object({
  item: Type.Integer({ minimum: 1 }),
  username: Type.String(),
  what: oneOf('answered', 'skipped', 'undone'),
  /** Null unless it was answered. */
  answer: nullable(annotationAnswer),
  sources: Type.Array(Type.String()),
  at: timestamp(),
})

/** Null where it is undefined: too few answers, or all the same. */
const statistic = () => nullable(Type.Number())

/** One thing that people judged: `choice`, a criterion, or `text`. */
const measure = Type.Object({
  name: Type.String(),
  /** Items with two answers or more. */
  items: Type.Integer({ minimum: 0 }),
  /** The share of pairs of people who said the same about an item. */
  equal: statistic(),
  alpha: Type.Object({ nominal: statistic(), ordinal: statistic(), interval: statistic() }),
  /** Pairs of people with the most items in common, at most 100. */
  kappa: Type.Array(
    Type.Object({
      people: Type.Array(Type.String()),
      items: Type.Integer({ minimum: 1 }),
      kappa: statistic(),
    }),
  ),
})

/** People together (the majority, or the mean) against the judge. */
const againstJudge = Type.Object({
  items: Type.Integer({ minimum: 0 }),
  /** The share of equal choices; null for scores. */
  equal: statistic(),
  kappa: statistic(),
  /** Spearman's rank correlation with the weighted mean of scores; null for choices. */
  correlation: statistic(),
})

/** People together (their mean) against a deployment that judged the same samples by the rubric of the queue. */
const againstDeployment = Type.Object({
  /** Null for readers who may not see the deployment. */
  judge: nullable(Type.Object({ deployment_id: Type.String(), revision_id: Type.String() })),
  /** By criterion. */
  measures: Type.Array(
    Type.Object({
      name: Type.String(),
      items: Type.Integer({ minimum: 0 }),
      /** The share of items with the same nearest point of the scale, and kappa of these points. */
      equal: statistic(),
      kappa: statistic(),
      alpha: Type.Object({ nominal: statistic(), ordinal: statistic(), interval: statistic() }),
      /** Spearman's rank correlation. */
      correlation: statistic(),
    }),
  ),
})

export const annotationAgreement = Type.Object({
  queue_id: Type.String(),
  kind: oneOf(...annotationKinds),
  answers: Type.Integer({ minimum: 0 }),
  measures: Type.Array(measure),
  judge: againstJudge,
  /** Each judge whose scores are known; none unless the queue scores samples by a rubric. */
  judges: Type.Array(againstDeployment),
})
export type AnnotationAgreement = Static<typeof annotationAgreement>
