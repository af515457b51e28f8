import type { Pool, PoolClient } from 'pg'
import type { Logger } from 'pino'
import { type Bell, createBell } from '../../platform/bell.ts'
import type { Head } from '../../platform/hash-chain.ts'
import { type EventLog, type LogRecord, RecordTooLarge } from '../../platform/log/event-log.ts'
import { pause } from '../../platform/pause.ts'
import { createPollPace, type PollPace } from '../../platform/poll-pace.ts'
import { locks } from '../../platform/postgres/locks.ts'
import { tryWithLock } from '../../platform/postgres/with-lock.ts'
import { repeat } from '../../platform/repeat.ts'
import { raiseEpoch } from '../commit/commit-epoch.ts'
import { maxEventBytes } from '../commit/event-json.ts'
import { advance, isAfter, linkBacklog } from './audit-chain.ts'
import { isFull, readBatch, type Unpublished } from './relay-batch.ts'

export type RelayDeps = {
  pool: Pool
  log: EventLog
  topic: string
  logger: Logger
  batchSize?: number
}

export type Relay = {
  /** Triggers a pass after a commit. */
  wake(): void
  /** Why nothing is published; null while all is well, or another process publishes. */
  halted(): Halted | null
  stop(): Promise<void>
}

/** `position`: the next event's; null if the reason does not concern an event. */
export type Halted = { position: number | null; reason: string }

type State = { halted: Halted | null }

/** How often to check for commits of other processes, in milliseconds: at first, and when nothing has arrived for a second. */
const pollMs = { first: 50, idle: 200 }
/** The pause between two passes: events that arrive together cost the log and the chain as much as one. */
const restMs = 20
/** How often to try the lock while another process publishes, in milliseconds. */
const standbyMs = 500

/**
 * Publishes committed decisions to the log, each at least once and each stream in order (ADR 2).
 *
 * Positions are assigned before the commit, so a slow transaction may become visible after a faster one with a
 * higher position. Hence the order is (epoch, xid, position), and only events of transactions older than every open
 * one are published: nothing can appear behind the cursor.
 *
 * No event is ever skipped: one that the log refuses holds up all others, and `halted` names it.
 */
export function startRelay(deps: RelayDeps): Relay {
  const bell = createBell()
  const state: State = { halted: null }
  const publishing = repeat(
    async signal => {
      const isOurs = await tryWithLock(deps.pool, locks.relay, (client, lost) =>
        publish(client, deps, { bell, state, signal: AbortSignal.any([signal, lost]) }),
      )
      if (!isOurs) state.halted = null
      return standbyMs
    },
    {
      failed(error) {
        const position = error instanceof NotPublished ? error.position : null
        state.halted = { position, reason: error instanceof Error ? error.message : String(error) }
        deps.logger.warn({ err: error }, 'relay failed, will retry')
      },
    },
  )
  return { wake: bell.ring, halted: () => state.halted, stop: publishing.stop }
}

type Running = { bell: Bell; state: State; signal: AbortSignal }

async function publish(client: PoolClient, deps: RelayDeps, running: Running): Promise<void> {
  const { bell, state, signal } = running
  await raiseEpoch(deps.pool, deps.logger)
  let head = await linkBacklog(client)
  const most = deps.batchSize ?? 500
  let limit = most
  const pace = createPollPace(pollMs.first, pollMs.idle)
  while (!signal.aborted) {
    const asked = limit
    const batch = await readBatch(client, asked)
    const next = await publishBatch(client, deps, head, batch)
    if (next === 'too large') limit = Math.ceil(batch.length / 2)
    else {
      head = next
      limit = Math.min(most, limit * 2)
      state.halted = null
      if (!isFull(batch, asked)) await untilNext(batch.length, { bell, pace, signal })
    }
  }
}

type Pacing = { bell: Bell; pace: PollPace; signal: AbortSignal }

async function untilNext(published: number, { bell, pace, signal }: Pacing): Promise<void> {
  if (published > 0) {
    pace.found()
    return await pause(restMs, signal)
  }
  const { wasRung } = await bell.wait(pace.nextMs(), signal)
  // The event may still have to wait for an older transaction.
  if (wasRung) pace.found()
}

/** Publishes events, then moves the cursor and the head of the audit chain; returns the new head. */
async function publishBatch(
  client: PoolClient,
  deps: RelayDeps,
  head: Head,
  batch: readonly Unpublished[],
): Promise<Head | 'too large'> {
  const [first, ...rest] = batch
  const last = batch.at(-1)
  if (!first || !last) return head
  try {
    await deps.log.append(deps.topic, batch.map(toLogRecord))
  } catch (error) {
    if (rest.length > 0 && error instanceof RecordTooLarge) return 'too large'
    throw new NotPublished([first, ...rest], error)
  }
  // Events that are published again already have links.
  const unlinked = batch.filter(event => isAfter(event, head))
  return await advance(client, head, unlinked, last)
}

class NotPublished extends Error {
  readonly position: number
  constructor([first, ...rest]: readonly [Unpublished, ...Unpublished[]], cause: unknown) {
    const { position, bytes, event } = first
    const more = rest.length === 0 ? '' : ` and ${rest.length} more`
    super(
      `The event at position ${position}, ${event.type} version ${event.stream_version} of ${event.stream}, ${bytes} bytes,${more} not published: ${cause instanceof Error ? cause.message : cause}`,
      { cause },
    )
    this.position = position
  }
}

/** CloudEvents attribute names as headers; the value alone is the whole event. */
function toLogRecord({ event, data }: Unpublished): LogRecord {
  return {
    key: event.stream,
    headers: {
      ce_specversion: '1.0',
      ce_id: event.event_id,
      ce_type: event.type,
      ce_source: 'forge',
      ce_subject: event.stream,
      ce_time: event.occurred_at,
      'content-type': 'application/json',
    },
    value: Buffer.from(`${JSON.stringify(event).slice(0, -1)},"data":${compact(data)}}`),
  }
}

/** In no more bytes than it was recorded with: PostgreSQL writes numbers in full, 1e308 with 309 digits. */
const compact = (data: string): string =>
  data.length > maxEventBytes ? JSON.stringify(JSON.parse(data)) : data
