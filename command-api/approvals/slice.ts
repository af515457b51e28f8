import type { Slice } from '../slice.ts'
import { approvalsOfEndedJobs } from './perform.ts'
import type { ApprovalPorts } from './ports.ts'
import { approvalRoutes } from './routes.ts'

export const approvals: Slice<ApprovalPorts> = {
  name: 'approvals',
  routes: approvalRoutes,
  reactors: [approvalsOfEndedJobs],
  kind: null,
  announces: {
    approval: 'nothing',
    approval_rule: 'nothing',
  },
  tables: ['write.approval', 'write.approval_rule'],
  examples: {
    paths: {
      'approvals.approval_id': 'apr_01J00000000000000000000000',
      'approval-rules.name': 'big-jobs',
    },
    bodies: {
      'PUT /api/approval-rules/{name}': {
        when: { on: 'gpus', gpus: 16 },
        who: { role: 'admin' },
        expires_h: 72,
      },
      'POST /api/approvals/{approval_id}/decide': {
        decision: 'approved',
        comment: 'the long run of the week',
      },
      'POST /api/quota-requests': {
        max_concurrent_gpus: 16,
        until: '2026-12-24T00:00:00+00:00',
        reason: 'the last sweep before the paper',
      },
    },
  },
}
