import { DatabaseError, type PoolClient } from 'pg'
import type { Batch, ReadRecord } from '../../platform/log/event-log.ts'
import { isOutage } from '../../platform/postgres/pool.ts'
import type { TopicProjection } from '../projection.ts'

/** SQLSTATE classes that a record can cause: cardinality, data, integrity, program limits. */
const recordsFault = /^(21|22|23|54)/

/**
 * Whether a record is at fault; it is then parked. Otherwise all records are retried: the database is unavailable or
 * busy, or its tables belong to a newer version.
 */
export const isPoison = (error: unknown): boolean =>
  error instanceof DatabaseError ? recordsFault.test(error.code ?? '') : !isOutage(error)

/**
 * Applies records one by one, each under a savepoint; records that cannot be applied are parked in `dead_letter`
 * with their position and error.
 */
export async function applyIsolated(
  tx: PoolClient,
  projection: TopicProjection,
  batches: readonly Batch[],
  onDeadLetter: (topic: string) => void,
): Promise<void> {
  for (const { topic, partition, records } of batches)
    for (const record of records) {
      await tx.query('savepoint record')
      try {
        await projection.apply(tx, [{ topic, partition, records: [record] }])
      } catch (error) {
        if (!isPoison(error)) throw error
        await tx.query('rollback to savepoint record')
        projection.reset()
        await park(tx, { topic, partition, record, error: String(error) })
        onDeadLetter(topic)
      }
      await tx.query('release savepoint record')
    }
}

type Parked = { topic: string; partition: number; record: ReadRecord; error: string }

async function park(tx: PoolClient, { topic, partition, record, error }: Parked): Promise<void> {
  await tx.query(
    `insert into dead_letter (topic, partition, "offset", key, error, value)
     values ($1, $2, $3, $4, $5, $6) on conflict do nothing`,
    [
      topic,
      partition,
      String(record.offset),
      withoutNul(record.key),
      withoutNul(error.slice(0, 2000)),
      record.value,
    ],
  )
}

/** PostgreSQL cannot store NUL in a text, and an error may quote the record. */
const withoutNul = (text: string) => text.replaceAll('\0', '')
