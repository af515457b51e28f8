import { type Static, Type } from 'typebox'
import { closed, nameText, nullable, oneOf, pageQuery, timestamp } from './shared.ts'

/** What an approval is for: a job, a move of a protected alias, a plan, a promotion, a raise of a quota. */
export const approvalSubjects = ['job', 'model_alias', 'plan', 'promotion', 'quota'] as const
export type SubjectType = (typeof approvalSubjects)[number]

export const approvalStates = ['pending', 'approved', 'rejected', 'expired', 'voided'] as const
export type ApprovalState = (typeof approvalStates)[number]

/** What a rule is about; the first four are about jobs. */
export const conditions = [
  'gpus',
  'cost',
  'reflow_data',
  'dataset_license',
  'protected_alias',
  'promotion',
  'quota_raise',
] as const
export type Condition = (typeof conditions)[number]

export const approverRoles = ['admin', 'operator'] as const

/** As recorded. `gpus` and `cost`: this or more; `names`: licenses or aliases, none: all. */
export const approvalRuleFacts = {
  when: Type.Object({
    on: oneOf(...conditions),
    gpus: nullable(Type.Integer({ minimum: 1 })),
    cost: nullable(Type.String()),
    names: Type.Array(Type.String()),
  }),
  /** Somebody with this role or of this team, viewers excepted, but never the person who asks. One of both is null. */
  who: Type.Object({ role: nullable(oneOf(...approverRoles)), team: nullable(Type.String()) }),
  expires_h: Type.Integer({ minimum: 1 }),
}

const ruleName = () =>
  Type.String({ minLength: 1, maxLength: 64, pattern: '^[a-z0-9][a-z0-9._-]*$' })

/** The body of `PUT /api/approval-rules/{name}`. */
export const approvalRuleInput = closed({
  when: closed({
    on: oneOf(...conditions),
    gpus: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
    cost: Type.Optional(Type.String({ pattern: '^\\d{1,9}(\\.\\d{1,6})?$' })),
    names: Type.Array(nameText(200), { maxItems: 50, default: [] }),
  }),
  /** Exactly one of both. */
  who: closed({
    role: Type.Optional(oneOf(...approverRoles)),
    team: Type.Optional(Type.String({ minLength: 1, maxLength: 63 })),
  }),
  /** Hours after which an approval that nobody decided expires. */
  expires_h: Type.Integer({ minimum: 1, maximum: 720, default: 72 }),
})
export type ApprovalRuleInput = Static<typeof approvalRuleInput>

export const approvalRulePath = Type.Object({ name: ruleName() })
export const approvalRuleRow = Type.Object({ name: Type.String(), ...approvalRuleFacts })
export type ApprovalRule = Static<typeof approvalRuleRow>
/** The facts about a version of a dataset that rules ask for. */
export type DatasetLabels = { ref: string; source: string; license: string | null }
export const approvalRuleGone = Type.Object({ ok: Type.Literal(true), name: Type.String() })

export const approvalSubject = Type.Object({
  type: oneOf(...approvalSubjects),
  id: Type.String(),
  /** Covers exactly what `content` shows. */
  digest: Type.String(),
})

const decision = Type.Object({
  by: Type.String(),
  decision: oneOf('approved', 'rejected'),
  comment: Type.String(),
  at: timestamp(),
})

export const approvalRow = Type.Object({
  approval_id: Type.String(),
  subject: approvalSubject,
  title: Type.String(),
  rule: Type.String(),
  state: oneOf(...approvalStates),
  requested_by: Type.String(),
  requested_at: timestamp(),
  expires_at: timestamp(),
  /** Who may decide, besides admins. */
  approvers: Type.Array(approvalRuleFacts.who),
  decisions: Type.Array(decision),
  /** Why it was voided. */
  reason: nullable(Type.String()),
})
export type ApprovalRow = Static<typeof approvalRow>

/** `content`: what the approval is bound to. `previous`: the newest earlier job of the recipe that the caller may read. */
export const approvalDetail = Type.Object({
  ...approvalRow.properties,
  content: Type.Record(Type.String(), Type.Unknown()),
  previous: nullable(
    Type.Object({ run_id: Type.String(), short_id: Type.String(), spec: Type.Unknown() }),
  ),
})
export type ApprovalDetail = Static<typeof approvalDetail>

/** `for_me`: pending ones that the caller may decide; `by_me`: requests of the caller. */
export const approvalListQuery = closed({
  ...pageQuery,
  view: Type.Optional(oneOf('for_me', 'by_me', 'all')),
  state: Type.Optional(oneOf(...approvalStates)),
  /** The run id of a job, or the ID of another subject. */
  subject: Type.Optional(Type.String({ maxLength: 200 })),
})

export const approvalPath = Type.Object({
  approval_id: Type.String({ minLength: 1, maxLength: 128 }),
})

export const approvalDecisionInput = closed({
  decision: oneOf('approved', 'rejected'),
  comment: Type.String({ maxLength: 2000, default: '' }),
})

export const approvalDecided = Type.Object({
  approval_id: Type.String(),
  state: oneOf(...approvalStates),
  /** Whether this request decided it. */
  changed: Type.Boolean(),
})

const most = 1_000_000_000
const limitInput = () => Type.Optional(Type.Integer({ minimum: 1, maximum: most }))

/** A raise sets these limits until its end; 0 is not among them, because it means unlimited in two of them. */
export const quotaRaise = Type.Object({
  max_concurrent_gpus: nullable(Type.Integer({ minimum: 1 })),
  max_concurrent_jobs: nullable(Type.Integer({ minimum: 1 })),
  daily_gpu_hours: nullable(Type.Number({ exclusiveMinimum: 0 })),
  max_storage_gb: nullable(Type.Number({ exclusiveMinimum: 0 })),
})
export type QuotaRaise = Static<typeof quotaRaise>

/** The body of `POST /api/quota-requests`. */
export const quotaRequestInput = closed({
  max_concurrent_gpus: limitInput(),
  max_concurrent_jobs: limitInput(),
  daily_gpu_hours: limitInput(),
  max_storage_gb: limitInput(),
  /** When the quota falls back; at most a year from now. */
  until: timestamp(),
  reason: Type.String({ minLength: 1, maxLength: 2000 }),
})

export const quotaRequestListQuery = closed(pageQuery)

export const quotaRequestRow = Type.Object({
  request_id: Type.String(),
  username: Type.String(),
  ...quotaRaise.properties,
  until: timestamp(),
  reason: Type.String(),
  requested_at: timestamp(),
  approval_id: Type.String(),
  state: oneOf(...approvalStates),
})
export type QuotaRequestRow = Static<typeof quotaRequestRow>
