import type { Pool, PoolClient } from 'pg'
import type { Batch } from '../../platform/log/event-log.ts'
import { inTransaction } from '../../platform/postgres/transaction.ts'
import type { TopicProjection } from '../projection.ts'

/** The progress of a projection in one generation of the read models. */
export type Checkpoints = {
  generation: number
  /** Next offset of each partition; index = partition. */
  next: readonly bigint[]
}

/** Another process moved this checkpoint: records read here are stale and must not be applied. */
export class LostOwnership extends Error {}

/** Reads the checkpoints of a projection; creates rows for new partitions. */
export async function loadCheckpoints(
  pool: Pool,
  projection: TopicProjection,
  partitions: number,
): Promise<Checkpoints> {
  await pool.query(
    `insert into projection_checkpoint (projection, topic, partition, next_offset, filled_to)
     select $1, $2, p, 0, 0 from generate_series(0, $3::int - 1) p on conflict do nothing`,
    [projection.name, projection.topic, partitions],
  )
  const { rows } = await pool.query(
    `select next_offset::text, (select number from generation) as generation
       from projection_checkpoint where projection = $1 and topic = $2 order by partition`,
    [projection.name, projection.topic],
  )
  return { generation: rows[0]?.generation, next: rows.map(row => BigInt(row.next_offset)) }
}

/**
 * Fills in rows that a projector of an earlier version left out. An earlier projector moves a checkpoint without its
 * `filled_to`, and may be running until this process takes its lock, long after the migrations.
 */
export async function fillIn(pool: Pool, { name, fillIn }: TopicProjection): Promise<void> {
  await inTransaction(pool, async tx => {
    // A rebuild must not put another generation under these names before this ends.
    await tx.query('lock table generation in row share mode')
    const { rows } = await tx.query<{ is_filled: boolean }>(
      `select next_offset is not distinct from filled_to as is_filled
         from projection_checkpoint where projection = $1 order by partition for update`,
      [name],
    )
    if (rows.every(row => row.is_filled)) return
    await fillIn(tx)
    await tx.query(
      'update projection_checkpoint set filled_to = next_offset where projection = $1',
      [name],
    )
  })
}

/**
 * Moves the checkpoints past these batches by compare-and-set, in the transaction that writes their rows. Throws
 * `LostOwnership` if a checkpoint differs from what this process expects, or a batch does not start there.
 */
export async function advanceCheckpoints(
  tx: PoolClient,
  projection: TopicProjection,
  batches: readonly Batch[],
  checkpoints: Checkpoints,
): Promise<Checkpoints> {
  const next = [...checkpoints.next]
  for (const { partition, records } of batches) {
    const first = records[0]
    const last = records.at(-1)
    if (!first || !last) continue
    const expected = next[partition]
    if (expected === undefined || first.offset < expected)
      throw new LostOwnership(
        `batch of ${partition} begins at ${first.offset}, checkpoint is ${expected}`,
      )
    next[partition] = last.offset + 1n
  }
  const moved = next.flatMap((offset, partition) =>
    offset === checkpoints.next[partition] ? [] : [partition],
  )
  const { rowCount } = await tx.query({
    name: 'advance_checkpoints',
    text: `update projection_checkpoint c set next_offset = m.next_offset, filled_to = m.next_offset
             from unnest($3::int[], $4::bigint[], $5::bigint[]) m (partition, expected, next_offset)
            where c.projection = $1 and c.topic = $2 and c.partition = m.partition
              and c.next_offset = m.expected
              and exists (select from generation where number = $6)`,
    values: [
      projection.name,
      projection.topic,
      moved,
      moved.map(partition => String(checkpoints.next[partition])),
      moved.map(partition => String(next[partition])),
      checkpoints.generation,
    ],
  })
  if (rowCount !== moved.length)
    throw new LostOwnership(`${projection.name} was moved by another process`)
  return { generation: checkpoints.generation, next }
}
