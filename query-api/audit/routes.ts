import { Type } from 'typebox'
import { type Route, route } from '../../auth/route.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { Clock } from '../../platform/time.ts'
import {
  type AuditDiff,
  type AuditQuery,
  type AuditState,
  type AuditVerdict,
  auditDiff,
  auditDiffQuery,
  auditQuery,
  auditRow,
  auditState,
  auditStateQuery,
  auditVerdict,
  auditVerifyQuery,
} from '../../schemas/audit.ts'
import { Invalid } from '../../schemas/validate.ts'
import { pageHeaders } from '../reading/page.ts'
import type { Reads } from '../reading/reads.ts'
import type { AuditPage } from './page.ts'
import { type RunEventTables, runEventRoute } from './run-events.ts'
import type { StreamsQuery } from './streams.ts'

/** Reads the recorded events; passed in, because it has its own pool. */
export type AuditReader = {
  /** Newest first. */
  list(query: AuditQuery): Promise<AuditPage>
  /** The oldest first. */
  ofStreams(query: StreamsQuery): Promise<AuditPage>
  /** Null if the target never existed; the same for `diff`. */
  state(query: { target: string; at: string }): Promise<AuditState | null>
  diff(query: { target: string; from: string; to: string }): Promise<AuditDiff | null>
  /**
   * Checks that all events are as recorded, and that an externally stored `head` is on the chain. May take minutes.
   */
  verify(head: string | undefined, signal: AbortSignal): Promise<AuditVerdict>
}

type Parts = { reads: Reads<RunEventTables>; audit: AuditReader; now: Clock }

export const auditRoutes = ({ reads, audit, now }: Parts): Route[] => [
  runEventRoute(reads, audit),
  route({
    method: 'GET',
    path: '/api/audit',
    credential: 'admin',
    tag: 'admin',
    summary: 'Who did what, newest first',
    query: auditQuery,
    response: Type.Array(auditRow),
    async handle({ query, ctx }) {
      const { rows, counted } = await audit.list(query)
      pageHeaders(ctx, { ...query, shown: rows.length, mayEndEarly: true }, counted)
      return rows
    },
  }),
  route({
    method: 'GET',
    path: '/api/audit/state',
    credential: 'admin',
    tag: 'admin',
    summary: 'What something was at an instant, folded from its events',
    query: auditStateQuery,
    response: auditState,
    refusals: ['not_found', 'conflict'],
    async handle({ query }) {
      const { target, at = now().toISOString() } = query
      return known(target, await audit.state({ target, at }))
    },
  }),
  route({
    method: 'GET',
    path: '/api/audit/diff',
    credential: 'admin',
    tag: 'admin',
    summary: 'What changed in something between two instants, and by which events',
    query: auditDiffQuery,
    response: auditDiff,
    refusals: ['not_found', 'conflict'],
    async handle({ query }) {
      if (Date.parse(query.from) > Date.parse(query.to)) throw backwards(query.to)
      return known(query.target, await audit.diff(query))
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

function known<T>(target: string, found: T | null): T {
  if (found === null) throw new Refusal('not_found', `No events are recorded for ${target}`)
  return found
}

const backwards = (to: string) =>
  new Invalid([
    {
      loc: ['query', 'to'],
      msg: 'Value error, to must not be before from',
      type: 'value_error',
      input: to,
    },
  ])
