import { type Static, Type } from 'typebox'
import {
  type ApprovalState,
  approvalRuleFacts,
  approvalSubject,
  quotaRaise,
  type SubjectType,
} from '../schemas/approvals.ts'
import { oneOf, timestamp } from '../schemas/shared.ts'
import { aggregate, type EventOf, event, type Stamped } from './event.ts'
import { because } from './words.ts'

/** In every event, so that each can be shown without reading others. */
const named = { approval_id: Type.String(), subject: approvalSubject, title: Type.String() }

/** A person asked for a higher quota until `until`; `approval.requested` follows. */
export const quotaRequested = event(
  'quota.requested',
  Type.Object({
    request_id: Type.String(),
    username: Type.String(),
    raise: quotaRaise,
    until: timestamp(),
    reason: Type.String(),
  }),
  ({ username, until, reason }, who) =>
    `${who} asked for a higher quota of ${username} until ${until}${because(reason)}`,
)

/** Somebody has to approve something. `content` is everything that they see; the digest of the subject covers it. */
export const approvalRequested = event(
  'approval.requested',
  Type.Object({
    ...named,
    rule: Type.String(),
    who: approvalRuleFacts.who,
    requested_by: Type.String(),
    content: Type.Record(Type.String(), Type.Unknown()),
    expires_h: Type.Integer({ minimum: 1 }),
    expires_at: timestamp(),
    /** People who may decide, to be notified. */
    tell: Type.Array(Type.String()),
  }),
  ({ title, rule }, who) => `${who} asked for the approval of ${title} (rule ${rule})`,
)

/** Final. `requested_by` is notified. */
export const approvalDecided = event(
  'approval.decided',
  Type.Object({
    ...named,
    requested_by: Type.String(),
    decision: oneOf('approved', 'rejected'),
    by: Type.String(),
    comment: Type.String(),
  }),
  ({ title, decision, comment }, who) => `${who} ${decision} ${title}${because(comment || null)}`,
)

/** Nobody decided in time. */
export const approvalExpired = event(
  'approval.expired',
  Type.Object({ ...named, requested_by: Type.String() }),
  ({ title }, who) => `${who} recorded that nobody decided about ${title} in time`,
)

/** Its subject changed or ended. */
export const approvalVoided = event(
  'approval.voided',
  Type.Object({ ...named, requested_by: Type.String(), reason: Type.String() }),
  ({ title, reason }, who) => `${who} voided the approval of ${title}: ${reason}`,
)

const events = [
  quotaRequested,
  approvalRequested,
  approvalDecided,
  approvalExpired,
  approvalVoided,
] as const
export type ApprovalEvent = EventOf<(typeof events)[number]>

export type Asked = Static<typeof approvalRequested.data>
export type Approval = Asked & { state: ApprovalState }

/** Everything that was ever asked about one subject, the oldest first. */
export type Approvals = readonly Approval[]

const stateAfter = {
  'approval.expired': 'expired',
  'approval.voided': 'voided',
} as const

function evolve(approvals: Approvals, event: Stamped<ApprovalEvent>): Approvals {
  const become = (state: ApprovalState, { approval_id }: { approval_id: string }) =>
    approvals.map(one => (one.approval_id === approval_id ? { ...one, state } : one))
  switch (event.type) {
    case 'quota.requested':
      return approvals
    case 'approval.requested':
      return [...approvals, { ...event.data, state: 'pending' }]
    case 'approval.decided':
      return become(event.data.decision, event.data)
    case 'approval.expired':
    case 'approval.voided':
      return become(stateAfter[event.type], event.data)
  }
}

export const approvals = aggregate('approval', { events, initial: [], evolve })

/** All approvals of one subject, so that one lock decides about them together. */
export const approvalsOf = (subject: { type: SubjectType; id: string }) =>
  approvals.at(`${subject.type}:${subject.id}`)
