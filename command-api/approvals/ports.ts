import type { SubjectType } from '../../schemas/approvals.ts'
import type { QuotaInput } from '../../schemas/quotas.ts'
import type { Transaction } from '../commit/event-store.ts'
import type { SubjectOfApproval } from '../rules/approval-subject.ts'

/** What the slices do whose things wait for approvals. */
export type ApprovalSubjects = Record<SubjectType, SubjectOfApproval>

export type ApprovalPorts = {
  approvalSubjects: ApprovalSubjects
  /** The quota in force of a person. */
  currentQuota: (tx: Transaction, username: string) => Promise<QuotaInput>
}
