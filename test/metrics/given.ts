import type { ExecutionContext } from 'ava'
import type { Kysely } from 'kysely'
import type { Pool } from 'pg'
import { pino } from 'pino'
import { recordMetrics } from '../../command-api/metrics/record.ts'
import type { ReadRecord } from '../../platform/log/event-log.ts'
import { inTransaction } from '../../platform/postgres/transaction.ts'
import { compactRun } from '../../projector/metrics/compact.ts'
import { metricsProjection } from '../../projector/metrics/projection.ts'
import type { MetricTables } from '../../projector/metrics/table.ts'
import type { TopicProjection } from '../../projector/projection.ts'
import { findRunNo } from '../../query-api/metrics/store.ts'
import type { MetricsInput } from '../../schemas/metrics/metrics.ts'
import { encodedFact } from '../encoded-fact.ts'
import { database } from '../servers/postgres.ts'

export const startMs = 1_790_000_000_000
export const logger = pino({ level: 'silent' })

export type Point = { key: string; step: number; value: number | 'NaN' | 'Infinity' | '-Infinity' }

export type Store = { pool: Pool; db: Kysely<MetricTables>; projection: TopicProjection }

/** An empty read model. */
export async function emptyStore(t: ExecutionContext): Promise<Store> {
  const { pool, kysely } = await database<MetricTables>(t, { schema: 'read' })
  return { pool, db: kysely, projection: metricsProjection('metrics') }
}

/** One report as its log record; the time of each point is its step in seconds after a fixed instant. */
export function report(runId: string, points: readonly Point[], receivedMs = startMs): ReadRecord {
  const input: MetricsInput = {
    run_id: runId,
    points: points.map(point => ({
      ...point,
      ts: new Date(startMs + point.step * 1000).toISOString(),
    })),
  }
  const { fact } = recordMetrics(input, receivedMs)
  return { key: runId, value: encodedFact(fact, receivedMs), offset: 0n }
}

/** Applies records as the runner does, in one transaction. */
export async function flush(store: Store, records: ReadRecord[]): Promise<void> {
  await inTransaction(store.pool, tx => store.projection.apply(tx, [batchOf(records)]))
}

/** Applies records in a transaction that is rolled back. */
export async function flushInVain(store: Store, records: ReadRecord[]): Promise<void> {
  const inVain = new Error('rolled back')
  const applying = inTransaction(store.pool, async tx => {
    await store.projection.apply(tx, [batchOf(records)])
    throw inVain
  })
  await applying.catch(error => {
    if (error !== inVain) throw error
  })
  store.projection.reset()
}

const batchOf = (records: ReadRecord[]) => ({ topic: 'metrics', partition: 0, records })

export async function compact(store: Store, runId: string, nowMs = startMs): Promise<void> {
  const runNo = await findRunNo(store.db, runId)
  if (runNo !== null) await compactRun(store.pool, runNo, nowMs)
}
