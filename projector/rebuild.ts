import type { Pool, PoolClient } from 'pg'
import type { Logger } from 'pino'
import type { EventLog } from '../platform/log/event-log.ts'
import { locks } from '../platform/postgres/locks.ts'
import { inTransaction } from '../platform/postgres/transaction.ts'
import { tryWithLock } from '../platform/postgres/with-lock.ts'
import { type Checkpoints, loadCheckpoints } from './checkpoint.ts'
import type { TopicProjection } from './projection.ts'
import { applyBatches } from './runner.ts'

export type RebuildDeps = {
  /** Connections without a search path. */
  pool: Pool
  /** Opens connections whose search path is this schema. */
  openPool: (schema: string) => Pool
  /** Makes the empty tables of a generation. */
  createSchema: (schema: string) => Promise<void>
  /** New projections: those of the live generation remember its tables. */
  projections: () => TopicProjection[]
  log: EventLog
  logger: Logger
  /** Called with the records replayed so far and those known to be on the log. */
  onProgress: (done: bigint, total: bigint) => void
  signal: AbortSignal
}

const live = 'read'
const next = 'read_next'
const old = 'read_old'
const maxReadBytes = 4 * 1024 * 1024

/** Another rebuild is at work. */
export class RebuildRunning extends Error {}

/**
 * Builds a new generation of all read models beside the live one by replaying the log, catches up, and
 * flips in one transaction. Readers see the old generation until then and the new one after; the live
 * projector notices the new generation by its compare-and-set. Nothing of an abandoned rebuild is kept.
 */
export async function rebuild(deps: RebuildDeps): Promise<void> {
  const isAlone = await tryWithLock(deps.pool, locks.rebuild, (_, lost) =>
    rebuildAlone({ ...deps, signal: AbortSignal.any([deps.signal, lost]) }),
  )
  if (!isAlone) throw new RebuildRunning('a rebuild is already at work')
}

async function rebuildAlone(deps: RebuildDeps): Promise<void> {
  await dropLeftovers(deps.pool)
  await deps.createSchema(next)
  const pool = deps.openPool(next)
  try {
    await buildAndFlip(deps, pool)
  } finally {
    await pool.end()
  }
}

async function dropLeftovers(pool: Pool): Promise<void> {
  await pool.query(`drop schema if exists ${next} cascade`)
  await pool.query(`drop schema if exists ${old} cascade`)
}

async function buildAndFlip(deps: RebuildDeps, pool: Pool): Promise<void> {
  const replays: Replay[] = []
  for (const projection of deps.projections())
    replays.push(await openReplay(deps, pool, projection))
  while (!deps.signal.aborted) {
    for (const replay of replays) await catchUp(deps, pool, { replay, replays })
    if (await flip(deps, pool, replays)) return
  }
  await deps.pool.query(`drop schema if exists ${next} cascade`)
}

type Replay = { projection: TopicProjection; checkpoints: Checkpoints; end: readonly bigint[] }

async function openReplay(
  deps: RebuildDeps,
  pool: Pool,
  projection: TopicProjection,
): Promise<Replay> {
  const end = await deps.log.end(projection.topic)
  const starts = await deps.log.start(projection.topic)
  projection.reset()
  await loadCheckpoints(pool, projection, end.length)
  if (starts.some(start => start > 0n)) await carryOver(deps.pool, projection)
  const checkpoints = await loadCheckpoints(pool, projection, end.length)
  return { projection, checkpoints, end }
}

/** Where the log no longer reaches back to the beginning, the tables are the record of what it dropped. */
async function carryOver(pool: Pool, projection: TopicProjection): Promise<void> {
  const copy = async (tx: PoolClient) => {
    for (const table of projection.tables)
      await tx.query(`insert into ${next}.${table} select * from ${live}.${table}`)
    await tx.query(
      `update ${next}.projection_checkpoint n set next_offset = l.next_offset
         from ${live}.projection_checkpoint l
        where l.projection = $1 and (n.projection, n.topic, n.partition) = (l.projection, l.topic, l.partition)`,
      [projection.name],
    )
  }
  await inTransaction(pool, copy, { isolation: 'repeatable read' })
}

type Catching = { replay: Replay; replays: readonly Replay[] }

/** Replays to where the log ended when it began. */
async function catchUp(
  deps: RebuildDeps,
  pool: Pool,
  { replay, replays }: Catching,
): Promise<void> {
  replay.end = await deps.log.end(replay.projection.topic)
  for (const [partition, end] of replay.end.entries()) {
    await replayTo(deps, pool, replay, { partition, end })
    deps.onProgress(total(replays.map(r => r.checkpoints.next)), total(replays.map(r => r.end)))
  }
}

const total = (offsets: (readonly bigint[])[]) =>
  offsets.flat().reduce((sum, offset) => sum + offset, 0n)

async function replayTo(
  deps: RebuildDeps,
  pool: Pool,
  replay: Replay,
  { partition, end }: { partition: number; end: bigint },
): Promise<void> {
  const { projection } = replay
  const from = replay.checkpoints.next[partition] ?? 0n
  if (from >= end) return
  const closing = new AbortController()
  const signal = AbortSignal.any([deps.signal, closing.signal])
  for await (const batch of deps.log.read(projection.topic, partition, from, {
    maxBytes: maxReadBytes,
    signal,
  })) {
    const records = batch.records.filter(record => record.offset < end)
    if (records.length > 0)
      replay.checkpoints = await applyBatches(
        projection,
        { pool, logger: deps.logger, onDeadLetter: () => {} },
        [{ ...batch, records }],
        replay.checkpoints,
      )
    // The reading ends by its signal; leaving the loop alone would leave it waiting for more.
    if ((replay.checkpoints.next[partition] ?? 0n) >= end) closing.abort()
  }
}

/**
 * Puts the new generation in the place of the live one. While the live checkpoints are locked nothing
 * can be projected, so the last few records are replayed under that lock.
 */
async function flip(deps: RebuildDeps, pool: Pool, replays: readonly Replay[]): Promise<boolean> {
  return inTransaction(deps.pool, async tx => {
    await tx.query(`lock table ${live}.projection_checkpoint in exclusive mode`)
    const { rows } = await tx.query(`select number from ${live}.generation`)
    for (const replay of replays) {
      const ends = await liveOffsets(tx, replay.projection)
      for (const [partition, end] of ends.entries())
        await replayTo(deps, pool, replay, { partition, end })
    }
    if (deps.signal.aborted) return false
    await tx.query(`update ${next}.generation set number = $1`, [Number(rows[0]?.number) + 1])
    await tx.query(`alter schema ${live} rename to ${old}`)
    await tx.query(`alter schema ${next} rename to ${live}`)
    await tx.query(`drop schema ${old} cascade`)
    return true
  })
}

async function liveOffsets(tx: PoolClient, projection: TopicProjection): Promise<bigint[]> {
  const { rows } = await tx.query(
    `select next_offset::text from ${live}.projection_checkpoint where projection = $1 order by partition`,
    [projection.name],
  )
  return rows.map(row => BigInt(row.next_offset))
}
