import { Type } from 'typebox'
import { type Route, route } from '../../platform/http/route.ts'
import { type AuditQuery, type AuditRow, auditQuery, auditRow } from '../../schemas/audit.ts'
import { pageHeaders } from '../page.ts'

/** Reads the record of the commands; handed in by the wiring, since it knows their events and rules. */
export type AuditReader = {
  /** The newest first; `counted` may be cut off at 10,001. */
  list(query: AuditQuery): Promise<{ rows: AuditRow[]; counted: number }>
}

export const auditRoutes = (audit: AuditReader): Route[] => [
  route({
    method: 'GET',
    path: '/api/audit',
    credential: 'admin',
    tag: 'admin',
    summary: 'Who did what, the newest first',
    query: auditQuery,
    response: Type.Array(auditRow),
    async handle({ query, ctx }) {
      const { rows, counted } = await audit.list(query)
      pageHeaders(ctx, query, counted)
      return rows
    },
  }),
]
