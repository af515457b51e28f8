import { Kysely, PostgresDialect } from 'kysely'
import type { Pool } from 'pg'
import { Refusal } from '../../platform/refusal.ts'
import type { AuditDiff, AuditQuery, AuditState, AuditVerdict } from '../../schemas/audit.ts'
import { diffBetween, stateAt } from './history.ts'
import { listEvents } from './list.ts'
import type { AuditPage } from './page.ts'
import { eventsOfStreams, type StreamsQuery } from './streams.ts'
import { parseHead, verifyChain } from './verify.ts'

/** Reads `write.event` directly, not a projection, so that no other code can distort the record. */
export function auditReader(pool: Pool) {
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) })
  return {
    list: (query: AuditQuery): Promise<AuditPage> => bounded(listEvents(db, query)),
    ofStreams: (query: StreamsQuery): Promise<AuditPage> => bounded(eventsOfStreams(db, query)),
    state: (query: { target: string; at: string }): Promise<AuditState | null> =>
      bounded(stateAt(pool, query)),
    diff: (query: { target: string; from: string; to: string }): Promise<AuditDiff | null> =>
      bounded(diffBetween(pool, query)),
    verify: (head: string | undefined, signal: AbortSignal): Promise<AuditVerdict> =>
      bounded(verifyChain(pool, { kept: head === undefined ? null : parseHead(head), signal })),
  }
}

/** SQLSTATE of a statement that exceeded its pool's time limit. */
const outOfTime = '57014'

async function bounded<T>(reading: Promise<T>): Promise<T> {
  try {
    return await reading
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === outOfTime)) throw error
    throw new Refusal(
      'unavailable',
      'The audit took too long; narrow it by target, actor, type, since or until',
      { code: 'audit.out_of_time', cause: error },
    )
  }
}
