import type { Route } from '../../auth/route.ts'
import type { ApprovalTables } from '../../projector/approvals/table.ts'
import { approvalRuleRow, quotaRequestListQuery, quotaRequestRow } from '../../schemas/approvals.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'
import { list } from '../reading/list.ts'
import { asCaller, type Reads } from '../reading/reads.ts'

/** The rules, and requests for a higher quota. */
export const plainLists = (reads: Reads<ApprovalTables>): Route[] => [
  list({
    ...asCaller(reads),
    path: '/api/approval-rules',
    tag: 'approvals',
    summary: 'List what waits for an approval, and whose',
    query: quotaRequestListQuery,
    row: approvalRuleRow,
    matching: ({ db }) => db.selectFrom('approval_rules'),
    select: found => found.select(['name', 'when', 'who', 'expires_h']).orderBy('name'),
    shape: rows => rows,
  }),
  list({
    ...asCaller(reads),
    path: '/api/quota-requests',
    tag: 'approvals',
    summary:
      'List your requests for a higher quota, the newest first; admins see those of everybody',
    query: quotaRequestListQuery,
    row: quotaRequestRow,
    matching: ({ db }, { caller: { role, username } }) =>
      db
        .selectFrom('quota_requests')
        .$if(role !== 'admin', found => found.where('username', '=', username)),
    select: found => found.selectAll().orderBy('requested_at', 'desc').orderBy('request_id'),
    shape: rows =>
      rows.map(({ raise, ...row }) => ({
        ...row,
        ...raise,
        until: toTimestamp(row.until),
        requested_at: toTimestamp(row.requested_at),
      })),
  }),
]
