import { decisions } from '../decisions.ts'
import type { Slice } from '../slice.ts'
import { approvalProjection } from './projection.ts'

export const approvals: Slice = { name: 'approvals', decisions: decisions(approvalProjection) }
