import { Kysely, PostgresDialect } from 'kysely'
import type { Pool } from 'pg'
import { listEvents } from '../../query-api/audit/list.ts'
import type { AuditQuery } from '../../schemas/audit.ts'
import { type Spread, spreadOf } from '../rig/quantile.ts'

const day = (date: string) => `${date}T00:00:00+00:00`

/** Each filter with many, some and few matches, alone and with a time range. */
const queries: [what: string, AuditQuery][] = [
  ['no filter', {}],
  ['actor, 0.3% of all', { actor: 'person7' }],
  ['actor, 40% of all', { actor: 'system:executor' }],
  ['actor, nobody', { actor: 'nobody' }],
  ['type, 20% of all', { type: 'job.starting' }],
  ['type, 0.01% of all', { type: 'quota.set' }],
  ['family, 95% of all', { type: 'job.*' }],
  ['family, 0.01% of all', { type: 'quota.*' }],
  ['target', { target: 'job:run_4711' }],
  ['request, one event', { request_id: 'request-4711' }],
  ['request, 40% of all', { request_id: 'executor-local' }],
  ['a day, long ago', { since: day('2025-12-01'), until: day('2025-12-02') }],
  ['all but the last month', { until: day('2026-10-20') }],
  ['family, a day', { type: 'job.*', since: day('2025-12-01'), until: day('2025-12-02') }],
  ['actor and type', { actor: 'person7', type: 'job.admitted' }],
  ['actor and type that never meet', { actor: 'executor', type: 'job.admitted' }],
  ['page at offset 10,000', { type: 'job.*', offset: 10_000 }],
  ['page at offset 100,000', { offset: 100_000 }],
]

const repeats = 20

export async function measureFilters(pool: Pool): Promise<{ what: string; took: Spread }[]> {
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) })
  const rows = []
  for (const [what, query] of queries) {
    const took: number[] = []
    for (let turn = 0; turn < repeats; turn++) {
      const began = performance.now()
      await listEvents(db, query)
      took.push(performance.now() - began)
    }
    rows.push({ what, took: spreadOf(took) })
  }
  return rows
}
