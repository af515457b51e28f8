import type { ColumnType } from 'kysely'
import type {
  ApprovalRow,
  ApprovalRule,
  ApprovalState,
  QuotaRaise,
} from '../../schemas/approvals.ts'

type Time = ColumnType<Date, string, string>
type Json<T> = ColumnType<T, string, string>

export type ApprovalTables = {
  approval_rules: {
    name: string
    when: Json<ApprovalRule['when']>
    who: Json<ApprovalRule['who']>
    expires_h: number
  }
  approvals: {
    approval_id: string
    subject: Json<ApprovalRow['subject']>
    subject_id: string
    run_id: string | null
    title: string
    rule: string
    approver_role: ApprovalRule['who']['role']
    approver_team: string | null
    state: ApprovalState
    requested_by: string
    requested_at: Time
    expires_at: Time
    decisions: Json<ApprovalRow['decisions']>
    reason: string | null
    content: Json<Record<string, unknown>>
  }
  quota_requests: {
    request_id: string
    username: string
    raise: Json<QuotaRaise>
    until: Time
    reason: string
    requested_at: Time
    approval_id: string
    state: ApprovalState
  }
}
