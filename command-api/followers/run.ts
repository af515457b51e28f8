import type { Pool } from 'pg'
import type { Logger } from 'pino'
import type { Topics } from '../../events/topics.ts'
import { type EventLog, LogUnavailable, type ReadRecord } from '../../platform/log/event-log.ts'
import { pause } from '../../platform/pause.ts'
import { textLock } from '../../platform/postgres/locks.ts'
import { isOutage } from '../../platform/postgres/pool.ts'
import { inTransaction } from '../../platform/postgres/transaction.ts'
import { tryWithLock } from '../../platform/postgres/with-lock.ts'
import { repeat } from '../../platform/repeat.ts'
import type { Clock } from '../../platform/time.ts'
import type { EventStore } from '../commit/event-store.ts'
import type { Acted, Follower } from '../effects/follower.ts'
import { record } from '../effects/outcome.ts'
import { type Checkpoint, LostCheckpoint, loadCheckpoints, move } from './checkpoint.ts'

export type FollowDeps<D> = {
  pool: Pool
  store: EventStore
  log: EventLog
  topics: Topics
  /** Dependencies of the followers. */
  work: D
  now: Clock
  logger: Logger
}

export type Following = {
  /** `halted`: why the follower does not move, or null. */
  status(): { follower: string; halted: string | null }
  stop(): Promise<void>
}

/** How soon another process takes over, and the first pause after a failure, in milliseconds. */
const restMs = 1000
const maxBytes = 4 * 1024 * 1024

/** Runs a follower in one process of an installation; if that loses the lock, the checkpoint fences it off. */
export function startFollower<D>(follower: Follower<D>, deps: FollowDeps<D>): Following {
  const { name } = follower
  let halted: string | null = null
  /** Whether a record halted it. Then only passing that record shows that it has recovered. */
  let isRecords = false
  let hasBegun = false
  const loop = repeat(
    async stopping => {
      hasBegun = false
      const isOurs = await tryWithLock(deps.pool, textLock(`follower ${name}`), (_, lost) =>
        followAll(follower, deps, {
          signal: AbortSignal.any([stopping, lost]),
          begun: () => {
            hasBegun = true
            if (!isRecords) halted = null
          },
          moved: () => {
            halted = null
          },
        }),
      )
      // Another process follows now, so whatever halted this one no longer matters.
      if (!isOurs) halted = null
      return restMs
    },
    {
      retryMs: { first: restMs, most: 30_000 },
      failed(error) {
        if (error instanceof LostCheckpoint) return
        halted = error instanceof Error ? error.message : String(error)
        isRecords = hasBegun && isOfRecord(error)
        deps.logger.error({ err: error, follower: name }, 'a follower is stuck, will retry')
      },
    },
  )
  return { status: () => ({ follower: name, halted }), stop: loop.stop }
}

type Running = { signal: AbortSignal; moved: () => void }
/** `begun`: called once database and log respond. */
type Beginning = Running & { begun: () => void }

/** Follows all partitions concurrently; if one fails, the others end too. */
async function followAll<D>(follower: Follower<D>, deps: FollowDeps<D>, running: Beginning) {
  const topic = deps.topics[follower.topic].name
  const failed = new AbortController()
  const signal = AbortSignal.any([running.signal, failed.signal])
  const checkpoints = await loadCheckpoints(deps, follower, topic)
  await deps.log.end(topic)
  running.begun()
  follower.begin?.()
  await Promise.all(
    checkpoints.map(checkpoint =>
      followPartition(follower, deps, { checkpoint, signal, moved: running.moved }).catch(error => {
        failed.abort()
        throw error
      }),
    ),
  )
}

const sizeOf = (records: readonly ReadRecord[]) =>
  records.reduce((sum, { value }) => sum + value.length, 0)

async function followPartition<D>(
  follower: Follower<D>,
  deps: FollowDeps<D>,
  { checkpoint, signal, moved }: Running & { checkpoint: Checkpoint },
): Promise<void> {
  const { topic, partition, next } = checkpoint
  const { paceMs = 0 } = follower
  for await (const { records } of deps.log.read(topic, partition, next, { maxBytes, signal })) {
    for (const one of records) {
      if (signal.aborted) return
      await actOn(follower, deps, { record: one, checkpoint, signal })
    }
    // One statement moves the checkpoint past all records without an outcome.
    const end = (records.at(-1)?.offset ?? -1n) + 1n
    if (end > checkpoint.next) await move(deps.pool, checkpoint, end)
    moved()
    if (paceMs > 0 && sizeOf(records) < maxBytes / 2) await pause(paceMs, signal)
  }
}

type Acting = { record: ReadRecord; checkpoint: Checkpoint; signal: AbortSignal }

/** A record counts as poison after this many failures in a row. */
const tries = 4
const retryMs = 50

async function actOn<D>(follower: Follower<D>, deps: FollowDeps<D>, acting: Acting) {
  for (let attempt = 1; ; attempt++) {
    const failure = await tryToAct(follower, deps, acting)
    if (failure === null) return
    if (attempt === tries) return passOver(follower, deps, acting, failure.cause)
    await pause(retryMs * 2 ** attempt, acting.signal)
    if (acting.signal.aborted) throw new LostCheckpoint('asked to stop')
  }
}

/** Returns null if the follower acted on the record, otherwise the failure. */
async function tryToAct<D>(
  follower: Follower<D>,
  deps: FollowDeps<D>,
  acting: Acting,
): Promise<{ cause: unknown } | null> {
  try {
    const acted = await follower.act(acting.record, deps.work)
    if (acted.outcome.length > 0) await commitActed(follower, deps, acting, acted)
    return null
  } catch (error) {
    if (!isOfRecord(error)) throw error
    return { cause: error }
  }
}

/** Whether the record may have caused a failure; lost connections and outages do not count. */
const isOfRecord = (error: unknown): boolean =>
  !(error instanceof LostCheckpoint || error instanceof LogUnavailable || isOutage(error))

/** The log may hold an event twice: for a repeat only the checkpoint moves. */
async function commitActed<D>(
  { name }: Follower<D>,
  deps: FollowDeps<D>,
  { record: { offset }, checkpoint }: Acting,
  { causationId, requestId, outcome }: Acted,
): Promise<void> {
  const cause = {
    actor: { type: 'system', id: name, via: 'follower' } as const,
    requestId,
    causationId,
  }
  const before = checkpoint.next
  try {
    await record(deps, cause, {
      outcome,
      async unless(tx) {
        checkpoint.next = before
        await move(tx, checkpoint, offset + 1n)
        const { rowCount } = await tx.query({
          name: 'follower_effect',
          text: `insert into write.follower_effect (follower, causation_id, caused_at) values ($1, $2, $3)
                     on conflict do nothing`,
          values: [name, causationId, deps.now()],
        })
        return rowCount === 0
      },
    })
  } catch (error) {
    checkpoint.next = before
    throw error
  }
}

async function passOver<D>(
  { name, onPoison }: Follower<D>,
  deps: FollowDeps<D>,
  { record: { offset }, checkpoint }: Acting,
  cause: unknown,
): Promise<void> {
  if (onPoison === 'halt') throw cause
  const { topic, partition } = checkpoint
  const error = String(cause).replaceAll('\0', '').slice(0, 2000)
  deps.logger.error({ err: cause, follower: name, topic, partition, offset }, 'a record was parked')
  await inTransaction(deps.pool, async tx => {
    await move(tx, checkpoint, offset + 1n)
    await tx.query(
      `insert into write.follower_dead_letter (follower, topic, partition, "offset", error, parked_at)
       values ($1, $2, $3, $4, $5, $6) on conflict do nothing`,
      [name, topic, partition, String(offset), error, deps.now()],
    )
  })
}
