import { Type } from 'typebox'
import { type Route, route } from '../../platform/http/route.ts'
import {
  type AuditQuery,
  type AuditRow,
  type AuditVerdict,
  auditQuery,
  auditRow,
  auditVerdict,
  auditVerifyQuery,
} from '../../schemas/audit.ts'
import { pageHeaders } from '../page.ts'

/** Reads the record of the commands; handed in by the wiring, since it knows their events and rules. */
export type AuditReader = {
  /** The newest first; `counted` may be cut off at 10,001. */
  list(query: AuditQuery): Promise<{ rows: AuditRow[]; counted: number }>
  /** Whether everything is as it was recorded; `head`: one that was kept. May take minutes. */
  verify(head: string | undefined, signal: AbortSignal): Promise<AuditVerdict>
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
  route({
    method: 'GET',
    path: '/api/audit/verify',
    credential: 'admin',
    tag: 'admin',
    summary: 'Check every event against the chain of hashes',
    query: auditVerifyQuery,
    response: auditVerdict,
    async handle({ query, ctx }) {
      const leaving = new AbortController()
      ctx.res.once('close', () => leaving.abort())
      return audit.verify(query.head, leaving.signal)
    },
  }),
]
