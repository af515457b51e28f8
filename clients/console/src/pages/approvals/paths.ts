export type {
  ApprovalDetail as Detail,
  ApprovalRow as Row,
} from '../../../../../schemas/approvals.ts'

export const path = '/api/approvals'
export const pathOf = (approval_id: string): string => `${path}/${encodeURIComponent(approval_id)}`
