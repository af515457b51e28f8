import type { Pool, PoolClient } from 'pg'
import type { Logger } from 'pino'
import { inTransaction } from '../platform/postgres/transaction.ts'
import { live, next, old } from './generations.ts'
import type { Replay } from './replay.ts'

export type FlipDeps = {
  /** Connections without a search path. */
  pool: Pool
  logger: Logger
  signal: AbortSignal
}

/** Maximum records to replay while the live projector waits. */
const maxTail = 2_000n
/** Short, because later requests for these locks queue behind ours. */
const lockWithinMs = 2_000
/** Dropping waits for readers of the old generation, `lockWithinMs` per attempt. */
const dropAttempts = 30

/**
 * Replaces the live generation by the new one. Returns false if the live projector was too far ahead or held its
 * locks for too long; the caller then has to catch up again.
 *
 * Nothing may write to the old generation any more: first wait for a running compaction, then stop the projections
 * while the last few records are replayed. Both take their lock before they touch a table, which rules out deadlocks.
 */
export async function flip(
  deps: FlipDeps,
  replays: readonly Replay[],
  replayTail: (replay: Replay, ends: readonly bigint[]) => Promise<void>,
): Promise<boolean> {
  try {
    return await inTransaction(deps.pool, tx => lockAndFlip(deps, tx, replays, replayTail))
  } catch (error) {
    if (isLockTimeout(error)) return false
    throw error
  }
}

async function lockAndFlip(
  { signal }: FlipDeps,
  tx: PoolClient,
  replays: readonly Replay[],
  replayTail: (replay: Replay, ends: readonly bigint[]) => Promise<void>,
): Promise<boolean> {
  await tx.query(`set local lock_timeout = ${lockWithinMs}`)
  await tx.query(`lock table ${live}.generation in exclusive mode`)
  await tx.query(`lock table ${live}.projection_checkpoint in exclusive mode`)
  const tails: { replay: Replay; ends: bigint[] }[] = []
  for (const replay of replays) tails.push({ replay, ends: await liveOffsets(tx, replay) })
  if (tails.reduce((sum, { replay, ends }) => sum + behind(replay, ends), 0n) > maxTail)
    return false
  for (const { replay, ends } of tails) await replayTail(replay, ends)
  if (signal.aborted) return false
  await tx.query(
    `update ${next}.generation set number = (select number + 1 from ${live}.generation)`,
  )
  await tx.query(`drop table ${next}.carried`)
  await tx.query(`alter schema ${live} rename to ${old}`)
  await tx.query(`alter schema ${next} rename to ${live}`)
  return true
}

async function liveOffsets(tx: PoolClient, { projection }: Replay): Promise<bigint[]> {
  const { rows } = await tx.query(
    `select next_offset::text from ${live}.projection_checkpoint
      where projection = $1 and topic = $2 order by partition`,
    [projection.name, projection.topic],
  )
  return rows.map(row => BigInt(row.next_offset))
}

const behind = ({ checkpoints }: Replay, ends: readonly bigint[]): bigint =>
  ends.reduce((sum, end, partition) => {
    const left = end - (checkpoints.next[partition] ?? 0n)
    return left > 0n ? sum + left : sum
  }, 0n)

/** Not part of the flip: dropping waits for readers, and new readers would queue behind it. */
export async function dropOld({ pool, logger }: Pick<FlipDeps, 'pool' | 'logger'>): Promise<void> {
  for (let attempt = 1; attempt <= dropAttempts; attempt++)
    try {
      await dropSchema(pool, old)
      return
    } catch (error) {
      if (!isLockTimeout(error)) throw error
    }
  logger.warn('the old read models are still being read; the next rebuild drops them')
}

export const dropSchema = (pool: Pool, schema: string): Promise<void> =>
  inTransaction(pool, async tx => {
    await tx.query(`set local lock_timeout = ${lockWithinMs}`)
    await tx.query(`drop schema if exists ${schema} cascade`)
  })

/** By the SQLSTATE of a lock timeout. */
const isLockTimeout = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === '55P03'
