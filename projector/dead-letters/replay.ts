import type { PoolClient } from 'pg'
import { locks } from '../../platform/postgres/locks.ts'
import { tryShareInTransaction } from '../../platform/postgres/with-lock.ts'
import { live } from '../generations.ts'
import type { TopicProjection } from '../projection.ts'

/** A parked record's position on the log, and the run that reported it. */
export type ParkedRecord = { topic: string; partition: number; offset: bigint }
export type TakenRecord = { key: string; value: Buffer }

/** A rebuild may have copied the parked records already, and the rows of their runs: a change now would be lost. */
export class DuringRebuild extends Error {}

/**
 * Removes a parked record from `dead_letter` and applies it, in the caller's transaction; null if it is not there. It
 * takes effect as the newest report of its run; a rebuild applies it at its original position. Throws what the
 * projection throws, and `DuringRebuild`.
 */
export async function replayParked(
  tx: PoolClient,
  projection: TopicProjection,
  place: ParkedRecord,
): Promise<TakenRecord | null> {
  if (!(await keepRebuildsOut(tx, place))) return null
  const { rows } = await tx.query<{ path: string }>(
    "select current_setting('search_path') as path, set_config('search_path', $1, true)",
    [live],
  )
  // A rebuild that lost its lock must not put another generation under these names before this ends.
  await tx.query('lock table generation in row share mode')
  // As the projector does, before its first write: it waits until this ends, and then continues from where it was.
  await tx.query(
    'select 1 from projection_checkpoint where projection = $1 order by partition for update',
    [projection.name],
  )
  const taken = await takeOut(tx, place)
  if (taken) {
    const { topic, partition, offset } = place
    projection.reset()
    await projection.applyParked(tx, { topic, partition, records: [{ ...taken, offset }] })
  }
  await tx.query("select set_config('search_path', $1, true)", [rows[0]?.path])
  return taken
}

/** Removes a parked record from `dead_letter`; null if it is not there. Throws `DuringRebuild`. */
export async function takeParked(tx: PoolClient, place: ParkedRecord): Promise<TakenRecord | null> {
  return (await keepRebuildsOut(tx, place)) ? takeOut(tx, place) : null
}

/**
 * Keeps rebuilds away until the transaction ends. Returns false if one is running and the record does not exist
 * anyway.
 */
async function keepRebuildsOut(tx: PoolClient, place: ParkedRecord): Promise<boolean> {
  if (await tryShareInTransaction(tx, locks.rebuild)) return true
  const { rowCount } = await tx.query(
    `select from ${live}.dead_letter where topic = $1 and partition = $2 and "offset" = $3`,
    keyOf(place),
  )
  if (rowCount === 0) return false
  throw new DuringRebuild('the read models are being rebuilt')
}

const keyOf = ({ topic, partition, offset }: ParkedRecord) => [topic, partition, String(offset)]

async function takeOut(tx: PoolClient, place: ParkedRecord): Promise<TakenRecord | null> {
  const { rows } = await tx.query<TakenRecord>(
    `delete from ${live}.dead_letter where topic = $1 and partition = $2 and "offset" = $3
     returning key, value`,
    keyOf(place),
  )
  return rows[0] ?? null
}
