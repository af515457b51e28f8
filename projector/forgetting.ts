import type { PoolClient } from 'pg'
import { decodeFact, isPurge } from '../events/fact.ts'
import type { Batch, ReadRecord } from '../platform/log/event-log.ts'
import type { TopicProjection } from './projection.ts'

/** Removes the rows of a run from the tables of one projection. */
export type Forget = (tx: PoolClient, run_id: string) => Promise<unknown>

/** Deletes the rows of a run from tables with its id. */
export const forgetIn =
  (...tables: readonly string[]): Forget =>
  async (tx, run_id) => {
    for (const table of tables) await tx.query(`delete from ${table} where run_id = $1`, [run_id])
  }

/**
 * A projection of facts that forgets a run once its topic reports the purge. This record follows all reports of the
 * run, so a replay ends with the same rows.
 */
export function forgetting(projection: TopicProjection, forget: Forget): TopicProjection {
  const { apply, applyParked } = projection
  return {
    ...projection,
    async apply(tx, batches) {
      const tells = batches.some(({ records }) => records.some(({ value }) => isPurge(value)))
      if (!tells) return apply(tx, batches)
      for (const batch of batches)
        await applyInTurn(tx, batch, { apply: part => apply(tx, [part]), forget })
    },
    applyParked: (tx, batch) =>
      applyInTurn(tx, batch, { apply: part => applyParked(tx, part), forget }),
  }
}

type RecordProjection = Pick<TopicProjection, 'name' | 'topic' | 'carryOver'> & {
  apply(tx: PoolClient, records: readonly ReadRecord[]): Promise<void>
  applyParked(tx: PoolClient, records: readonly ReadRecord[]): Promise<void>
  forget: Forget
}

/** A forgetting projection that caches nothing and applies the records of all partitions together. */
export const recordProjection = ({ apply, applyParked, forget, ...rest }: RecordProjection) =>
  forgetting(
    {
      ...rest,
      onPoison: 'park',
      reset() {},
      apply: (tx, batches) =>
        apply(
          tx,
          batches.flatMap(({ records }) => records),
        ),
      applyParked: (tx, { records }) => applyParked(tx, records),
      async fillIn() {},
    },
    forget,
  )

async function applyInTurn(
  tx: PoolClient,
  batch: Batch,
  { apply, forget }: { apply: (part: Batch) => Promise<void>; forget: Forget },
): Promise<void> {
  let waiting: Batch['records'][number][] = []
  const applyWaiting = async () => {
    if (waiting.length > 0) await apply({ ...batch, records: waiting })
    waiting = []
  }
  for (const record of batch.records) {
    if (!isPurge(record.value)) {
      waiting.push(record)
      continue
    }
    await applyWaiting()
    const { run_id } = decodeFact(record.value)
    await forget(tx, run_id)
    await tx.query('delete from dead_letter where topic = $1 and key = $2', [batch.topic, run_id])
  }
  await applyWaiting()
}
