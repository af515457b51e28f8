import type { Kysely, Updateable } from 'kysely'
import type { ApprovalRuleEvent } from '../../events/approval-rules.ts'
import type { ApprovalEvent } from '../../events/approvals.ts'
import type { Handlers } from '../projection.ts'
import type { ApprovalTables } from './table.ts'

type Tx = Kysely<ApprovalTables>

export const approvalProjection: Handlers<ApprovalTables, ApprovalEvent | ApprovalRuleEvent> = {
  async 'approval_rule.set'(tx, { data: { name, when, who, expires_h } }) {
    const rule = { when: JSON.stringify(when), who: JSON.stringify(who), expires_h }
    await tx
      .insertInto('approval_rules')
      .values({ name, ...rule })
      .onConflict(on => on.column('name').doUpdateSet(rule))
      .execute()
  },
  'approval_rule.removed': (tx, { data: { name } }) =>
    tx.deleteFrom('approval_rules').where('name', '=', name).execute(),
  'quota.requested': (tx, { data: { raise, ...request }, occurred_at }) =>
    tx
      .insertInto('quota_requests')
      .values({
        ...request,
        raise: JSON.stringify(raise),
        ...{ requested_at: occurred_at, approval_id: '', state: 'pending' },
      })
      .execute(),
  async 'approval.requested'(tx, { data, occurred_at }) {
    const { approval_id, subject, title, rule, who, requested_by, content, expires_at } = data
    await tx
      .insertInto('approvals')
      .values({
        ...{ approval_id, title, rule, requested_by, expires_at, requested_at: occurred_at },
        ...{ subject: JSON.stringify(subject), subject_id: subject.id },
        ...{ run_id: subject.type === 'job' ? subject.id : null, approver_role: who.role },
        approver_team: who.team,
        ...{ state: 'pending', decisions: '[]', reason: null, content: JSON.stringify(content) },
      })
      .execute()
    if (subject.type === 'quota')
      await updateRequest(tx, subject.id, { approval_id, state: 'pending' })
  },
  async 'approval.decided'(tx, { data, occurred_at }) {
    const { approval_id, subject, decision, by, comment } = data
    const decisions = JSON.stringify([{ by, decision, comment, at: occurred_at }])
    await update(tx, approval_id, { state: decision, decisions })
    if (subject.type === 'quota') await updateRequest(tx, subject.id, { state: decision })
  },
  async 'approval.expired'(tx, { data: { approval_id, subject } }) {
    await update(tx, approval_id, { state: 'expired' })
    if (subject.type === 'quota') await updateRequest(tx, subject.id, { state: 'expired' })
  },
  async 'approval.voided'(tx, { data: { approval_id, subject, reason } }) {
    await update(tx, approval_id, { state: 'voided', reason })
    if (subject.type === 'quota') await updateRequest(tx, subject.id, { state: 'voided' })
  },
}

const update = (tx: Tx, approval_id: string, to: Updateable<ApprovalTables['approvals']>) =>
  tx.updateTable('approvals').set(to).where('approval_id', '=', approval_id).execute()

const updateRequest = (
  tx: Tx,
  request_id: string,
  to: Updateable<ApprovalTables['quota_requests']>,
) => tx.updateTable('quota_requests').set(to).where('request_id', '=', request_id).execute()
