import type { PoolClient } from 'pg'
import type { Batch, ReadRecord } from '../platform/log/event-log.ts'
import type { TopicProjection } from './projection.ts'

/**
 * Applies records one by one, each under a savepoint; those that cannot be applied are parked in `dead_letter`
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
      record.key.replaceAll('\0', ''),
      error.slice(0, 2000),
      record.value,
    ],
  )
}
