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

export type Replaying = {
  /** Replays what is on the log by now. */
  catchUp: () => Promise<void>
  /** Replays up to these offsets. */
  replayTail: (replay: Replay, ends: readonly bigint[]) => Promise<void>
}

/** Maximum records to replay while the live projector waits. */
const maxTail = 1_000n
/** Few enough to let the live projector wait; reached in one or two rounds, or not at all. */
const smallTail = 200n
const maxRounds = 5
/** A compaction of a large run takes long, and only other compactions queue behind this request. */
const compactorWithinMs = 60_000
/** Short, because the live projector queues behind this request. */
const projectorWithinMs = 2_000
/** Dropping waits for readers of the old generation, `dropWithinMs` per attempt. */
const dropAttempts = 30
const dropWithinMs = 2_000

/**
 * Replaces the live generation by the new one. Returns false if the live projector was too far ahead or held its
 * locks for too long; the caller then has to catch up again.
 *
 * Nothing may write to the old generation any more, nor compact either. First the compactors are kept out, while the
 * projections go on and the replay catches up with them; then the projections wait for the few records that are left.
 * All take their lock before they touch a table, which rules out deadlocks.
 */
export async function flip(
  deps: FlipDeps,
  replays: readonly Replay[],
  replaying: Replaying,
): Promise<boolean> {
  try {
    return await inTransaction(deps.pool, tx => lockAndFlip(deps, tx, replays, replaying))
  } catch (error) {
    if (isLockTimeout(error)) return false
    throw error
  }
}

async function lockAndFlip(
  { signal, logger }: FlipDeps,
  tx: PoolClient,
  replays: readonly Replay[],
  { catchUp, replayTail }: Replaying,
): Promise<boolean> {
  await tx.query(`set local lock_timeout = ${compactorWithinMs}`)
  await tx.query(`lock table ${live}.generation, ${next}.generation in exclusive mode`)
  for (let round = 1; round <= maxRounds; round++) {
    await catchUp()
    if (leftOf(await tailsOf(tx, replays)) <= smallTail) break
  }
  await tx.query(`set local lock_timeout = ${projectorWithinMs}`)
  await tx.query(`lock table ${live}.projection_checkpoint in exclusive mode`)
  const lockedAt = performance.now()
  const tails = await tailsOf(tx, replays)
  if (leftOf(tails) > maxTail) return false
  const records = Number(leftOf(tails))
  await Promise.all(tails.map(({ replay, ends }) => replayTail(replay, ends)))
  if (signal.aborted) return false
  await tx.query(
    `update ${next}.generation set number = (select number + 1 from ${live}.generation)`,
  )
  await tx.query(`drop table ${next}.carried`)
  await tx.query(`alter schema ${live} rename to ${old}`)
  await tx.query(`alter schema ${next} rename to ${live}`)
  const heldMs = Math.round(performance.now() - lockedAt)
  logger.info({ records, heldMs }, 'the projections stood still for the flip')
  return true
}

type Tail = { replay: Replay; ends: readonly bigint[] }

/** How far the live projections have come. */
async function tailsOf(tx: PoolClient, replays: readonly Replay[]): Promise<Tail[]> {
  const tails: Tail[] = []
  for (const replay of replays) tails.push({ replay, ends: await liveOffsets(tx, replay) })
  return tails
}

const leftOf = (tails: readonly Tail[]): bigint =>
  tails.reduce((sum, { replay, ends }) => sum + behind(replay, ends), 0n)

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
    await tx.query(`set local lock_timeout = ${dropWithinMs}`)
    await tx.query(`drop schema if exists ${schema} cascade`)
  })

/** By the SQLSTATE of a lock timeout. */
const isLockTimeout = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === '55P03'
