import type { Approval, ApprovalEvent, Approvals, Asked } from '../../events/approvals.ts'
import { Refusal } from '../../platform/refusal.ts'

/** A job whose priority changes again and again asks again each time. */
const maxPerSubject = 200

const isLive = ({ state }: Approval) => state === 'pending' || state === 'approved'
const isPending = ({ state }: Approval) => state === 'pending'
/** An approved job may wait for its start, until which a change voids the approval. */
const isBinding = ({ state, subject }: Approval) => state === 'approved' && subject.type === 'job'

/**
 * Asks for these approvals of one subject, all with the same digest. Its approvals with another digest become void, because the subject
 * has changed. An approval is not requested twice.
 */
export function ask(known: Approvals, asked: readonly Asked[]): ApprovalEvent[] {
  const digest = asked[0]?.subject.digest
  if (known.length + asked.length > maxPerSubject)
    throw new Refusal(
      'conflict',
      `Approvals of ${asked[0]?.title} were asked for ${known.length} times`,
      {
        code: 'approval.too_many',
      },
    )
  const outdated = known.filter(
    one => (isPending(one) || isBinding(one)) && one.subject.digest !== digest,
  )
  const alike = known.filter(one => one.subject.digest === digest)
  // A cleared request was carried out at once; to repeat that, people ask again.
  const counting = areCleared(alike) ? [] : alike.filter(isLive)
  const missing = asked.filter(one => !counting.some(other => other.rule === one.rule))
  return [
    ...outdated.map(one => voided(one, 'it changed after it was asked for')),
    ...missing.map((data): ApprovalEvent => ({ type: 'approval.requested', data })),
  ]
}

export type Decision = {
  approval_id: string
  decision: 'approved' | 'rejected'
  by: string
  comment: string
}

/** The same decision again changes nothing. One rejection ends the other approvals of the subject, too. */
export function decideApproval(known: Approvals, made: Decision, now: Date): ApprovalEvent[] {
  const { approval_id, ...decided } = made
  const found = known.find(one => one.approval_id === approval_id)
  if (!found) throw new Refusal('not_found', `No such approval: ${approval_id}`)
  if (found.state === decided.decision) return []
  const isLate = found.state === 'pending' && Date.parse(found.expires_at) <= now.getTime()
  const state = isLate ? 'expired' : found.state
  if (state !== 'pending')
    throw new Refusal('conflict', `This approval is ${state} already`, {
      code: `approval.${state}`,
      data: { state },
    })
  return [
    { type: 'approval.decided', data: { ...namesOf(found), ...decided } },
    ...(decided.decision === 'rejected'
      ? withoutIt(known, found, `${decided.by} rejected it`)
      : []),
  ]
}

export function expire(known: Approvals, approval_id: string, now: Date): ApprovalEvent[] {
  const found = known.find(one => one.approval_id === approval_id)
  if (!found || !isPending(found) || Date.parse(found.expires_at) > now.getTime()) return []
  return [
    { type: 'approval.expired', data: namesOf(found) },
    ...withoutIt(known, found, 'another approval of it expired'),
  ]
}

/** Their subject has changed or ended. */
export const voidAll = (known: Approvals, reason: string): ApprovalEvent[] =>
  known.filter(isPending).map(one => voided(one, reason))

/** Whether everything that was asked about this digest was approved. */
export function isCleared(known: Approvals, digest: string): boolean {
  return areCleared(known.filter(one => one.subject.digest === digest))
}

/** Whether all rules were satisfied. The newest request of each counts: people may ask again after a rejection. */
export function areCleared(known: Approvals): boolean {
  const states = new Map(
    known.filter(({ state }) => state !== 'voided').map(({ rule, state }) => [rule, state]),
  )
  return states.size > 0 && [...states.values()].every(state => state === 'approved')
}

/** The newest ones that still count, all of one digest. */
export const liveOf = (known: Approvals): Approval[] => known.filter(isLive)

const withoutIt = (known: Approvals, ended: Approval, reason: string): ApprovalEvent[] =>
  known
    .filter(one => isPending(one) && one.approval_id !== ended.approval_id)
    .map(one => voided(one, reason))

const voided = (approval: Approval, reason: string): ApprovalEvent => ({
  type: 'approval.voided',
  data: { ...namesOf(approval), reason },
})

const namesOf = ({ approval_id, subject, title, requested_by }: Approval) => ({
  ...{ approval_id, subject, title, requested_by },
})
