import type { Pool, PoolClient } from 'pg'
import type { Logger } from 'pino'
import { pause } from '../../platform/pause.ts'
import { inTransaction } from '../../platform/postgres/transaction.ts'
import { live, next, old } from '../generations.ts'
import type { Replay } from './replay.ts'

export type FlipDeps = {
  /** Connections without a search path. */
  pool: Pool
  logger: Logger
  signal: AbortSignal
}

export type Replaying = {
  /** Replays everything on the log so far. */
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
/** How often, and after which pause in milliseconds, to try to drop a generation that is still being read. */
const dropAttempts = 300
const dropPauseMs = 200

/**
 * Replaces the live generation by the new one. Returns false if the live projector was too far ahead or held its
 * locks for too long; the caller then has to catch up again.
 *
 * Nothing may write to the old generation or compact either of them any longer. First the compactors are locked out,
 * while the projections continue and the replay catches up with them; then the projections wait for the few remaining
 * records. All take their lock before they touch a table, which rules out deadlocks.
 */
export async function flip(
  deps: FlipDeps,
  replays: readonly Replay[],
  replaying: Replaying,
): Promise<boolean> {
  try {
    return await inTransaction(deps.pool, tx => lockAndFlip(deps, tx, replays, replaying))
  } catch (error) {
    if (isLockConflict(error)) return false
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

/** The progress of the live projections. */
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

/** Not part of the flip, because readers of the old generation come first. */
export async function dropOld({ pool, logger, signal }: FlipDeps): Promise<void> {
  try {
    await dropSchema({ pool, signal }, old)
  } catch (error) {
    if (!isLockConflict(error)) throw error
    logger.warn('the old read models are still being read; the next rebuild drops them')
  }
}

/** Waits for readers, up to a minute, without holding up any of them. */
export async function dropSchema(
  { pool, signal }: Pick<FlipDeps, 'pool' | 'signal'>,
  schema: string,
): Promise<void> {
  for (let attempt = 1; ; attempt++)
    try {
      return await inTransaction(pool, tx => dropUnused(tx, schema))
    } catch (error) {
      if (!isLockConflict(error) || attempt === dropAttempts || signal.aborted) throw error
      await pause(dropPauseMs, signal)
    }
}

/**
 * Locks every table at once or none: a statement that was planned before the flip locks its tables one after the other, and would
 * wait for a drop that waits for it.
 */
async function dropUnused(tx: PoolClient, schema: string): Promise<void> {
  const { rows } = await tx.query<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname = $1
     union all select format('%I.%I', schemaname, viewname) from pg_views where schemaname = $1`,
    [schema],
  )
  const names = rows.map(({ name }) => name).join(', ')
  if (names !== '') await tx.query(`lock table ${names} in access exclusive mode nowait`)
  await tx.query(`drop schema if exists ${schema} cascade`)
}

/** Whether an error is a lock that was not free, immediately or in time, or a deadlock (by SQLSTATE). */
const isLockConflict = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && ['55P03', '40P01'].includes(String(error.code))
