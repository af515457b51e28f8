import { approvalPath } from '../../schemas/approvals.ts'
import type { Slice } from '../slice.ts'
import { plainLists } from './plain-lists.ts'
import { approvalRoutes, type Tables } from './routes.ts'

export const approvals: Slice<Tables> = {
  name: 'approvals',
  routes: ({ reads }) => [...approvalRoutes(reads), ...plainLists(reads)],
  pages: [
    { path: '/approvals', summary: 'What waits for approval' },
    { path: '/approvals/{approval_id}', summary: 'An approval', params: approvalPath },
  ],
}
