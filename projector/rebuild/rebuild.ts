import type { Pool } from 'pg'
import type { Logger } from 'pino'
import type { EventLog } from '../../platform/log/event-log.ts'
import { locks } from '../../platform/postgres/locks.ts'
import { tryWithLock, withLock } from '../../platform/postgres/with-lock.ts'
import type { Clock } from '../../platform/time.ts'
import { next, old } from '../generations.ts'
import type { TopicProjection } from '../projection.ts'
import { loadCheckpoints } from '../runner/checkpoint.ts'
import { carryOverRuns, prepareCarryOver, withoutCarried } from './carry-over.ts'
import { analyze, compactBuilt } from './compact-built.ts'
import { dropOld, dropSchema, flip } from './flip.ts'
import { type Replay, type ReplayDeps, replayTo } from './replay.ts'

export type RebuildDeps = {
  /** Connections without a search path. */
  pool: Pool
  /** Opens connections whose search path is this schema. */
  openPool: (schema: string) => Pool
  /** Creates the empty tables of a generation. */
  createSchema: (schema: string) => Promise<void>
  /** Creates new projections, because those of the live generation cache its contents. */
  projections: () => TopicProjection[]
  log: EventLog
  logger: Logger
  /** Maximum rows carried over in one transaction. */
  rangeRows?: number
  /** Called with the numbers of records replayed so far and known to be on the log. */
  onProgress: (done: bigint, total: bigint) => void
  /** Starts a compactor of the metrics in this schema. */
  startCompactor: (schema: string) => { stop(): Promise<void> }
  now: Clock
  signal: AbortSignal
}

/** A transaction of this size takes tens of milliseconds, during which the relay cannot publish newer events. */
const defaultRangeRows = 500

/** How long to wait for a running trim. */
const trimWithinMs = 60_000

/** Each waits for locks, up to a minute. */
const flipAttempts = 30

/** Another rebuild is running. */
export class RebuildRunning extends Error {}

/**
 * Builds a new generation of all read models next to the live one by replaying the log, catches up, and
 * flips in one transaction. Readers see the old generation until then and the new one after; the live
 * projector notices the new generation by its compare-and-set. An abandoned rebuild leaves nothing behind.
 *
 * Runs whose records were trimmed are carried over from the live generation (docs/adr/0011-rebuild-after-a-trim.md).
 */
export async function rebuild(deps: RebuildDeps): Promise<void> {
  const { pool, signal } = deps
  const isAlone = await tryWithLock(pool, locks.rebuild, (_, lost) =>
    // Keeps records from being trimmed before they are replayed.
    withLock(pool, { lock: locks.logTrim, waitMs: trimWithinMs }, (_, trimLost) =>
      rebuildAlone({ ...deps, signal: AbortSignal.any([signal, lost, trimLost]) }),
    ),
  )
  if (!isAlone) throw new RebuildRunning('a rebuild is already at work')
}

async function rebuildAlone(deps: RebuildDeps): Promise<void> {
  for (const schema of [next, old]) await dropSchema(deps, schema)
  await deps.createSchema(next)
  const pool = deps.openPool(next)
  try {
    await buildAndFlip(deps, pool)
  } finally {
    await pool.end()
  }
}

async function buildAndFlip(deps: RebuildDeps, pool: Pool): Promise<void> {
  await prepareCarryOver(deps.pool)
  const replays: Replay[] = []
  for (const projection of deps.projections())
    replays.push(await openReplay(deps, pool, projection))
  const replayTail = (replay: Replay, ends: readonly bigint[]) =>
    replayAll({ ...deps, pool }, replay, ends)
  const catchUp = async () => {
    for (const replay of replays) {
      await replayTail(replay, await deps.log.end(replay.projection.topic))
      deps.onProgress(total(replays.map(r => r.checkpoints.next)), total(replays.map(r => r.end)))
    }
  }
  await catchUp()
  await compactBuilt(deps, pool, catchUp)
  await analyze(pool)
  for (let attempt = 1; attempt <= flipAttempts && !deps.signal.aborted; attempt++) {
    await catchUp()
    if (await flip(deps, replays, { catchUp, replayTail })) return dropOld(deps)
  }
  await dropSchema(deps, next)
  deps.signal.throwIfAborted()
  throw new Error(`the live projections left no moment to flip in ${flipAttempts} attempts`)
}

/** Starts with the runs that are carried over, if any, and with checkpoints at the first record of the log. */
async function openReplay(
  deps: RebuildDeps,
  pool: Pool,
  projection: TopicProjection,
): Promise<Replay> {
  const { topic } = projection
  const end = await deps.log.end(topic)
  const starts = await deps.log.start(topic)
  projection.reset()
  const checkpoints = await loadCheckpoints(pool, projection, end.length)
  const isWhole = starts.every(start => start === 0n)
  if (projection.carryOver === null && isWhole) return { projection, checkpoints, end }
  const carrying = { ...deps, rangeRows: deps.rangeRows ?? defaultRangeRows }
  const through = await carryOverRuns(carrying, projection, starts)
  await beginAt(pool, projection, starts)
  return {
    projection: withoutCarried(projection, through),
    checkpoints: { ...checkpoints, next: starts },
    end,
  }
}

const beginAt = (pool: Pool, { name, topic }: TopicProjection, starts: readonly bigint[]) =>
  pool.query(
    `update projection_checkpoint c set next_offset = s.start, filled_to = s.start
       from unnest($3::bigint[]) with ordinality s (start, nth)
      where (c.projection, c.topic, c.partition) = ($1, $2, s.nth - 1)`,
    [name, topic, starts.map(String)],
  )

async function replayAll(deps: ReplayDeps, replay: Replay, ends: readonly bigint[]): Promise<void> {
  replay.end = ends
  for (const [partition, end] of ends.entries()) await replayTo(deps, replay, { partition, end })
}

const total = (offsets: (readonly bigint[])[]) =>
  offsets.flat().reduce((sum, offset) => sum + offset, 0n)
