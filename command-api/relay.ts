import type { Pool, PoolClient } from 'pg'
import type { Logger } from 'pino'
import type { Recorded } from '../events/event.ts'
import { type Bell, createBell } from '../platform/bell.ts'
import type { Head } from '../platform/hash-chain.ts'
import type { EventLog, LogRecord } from '../platform/log/event-log.ts'
import { locks } from '../platform/postgres/locks.ts'
import { tryWithLock } from '../platform/postgres/with-lock.ts'
import { repeat } from '../platform/repeat.ts'
import { advance, linkBacklog, readDigests } from './audit-chain.ts'
import { toRecorded } from './event-store.ts'

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
  stop(): Promise<void>
}

/** How often to check for commits of other processes, in milliseconds. */
const pollMs = 50
/** How often to try the lock while another process publishes, in milliseconds. */
const standbyMs = 500

/**
 * Publishes committed decisions to the log, each at least once and each stream in order (ADR 2).
 *
 * Positions are assigned before the commit, so a slow transaction may become visible after a faster one with a
 * higher position. Hence the order is (xid, position), and only events of transactions older than every open one
 * are published: nothing can appear behind the cursor.
 */
export function startRelay(deps: RelayDeps): Relay {
  const bell = createBell()
  const publishing = repeat(
    async signal => {
      await tryWithLock(deps.pool, locks.relay, (client, lost) =>
        publish(client, deps, bell, AbortSignal.any([signal, lost])),
      )
      return standbyMs
    },
    { failed: error => deps.logger.warn({ err: error }, 'relay failed, will retry') },
  )
  return { wake: bell.ring, stop: publishing.stop }
}

async function publish(
  client: PoolClient,
  deps: RelayDeps,
  bell: Bell,
  signal: AbortSignal,
): Promise<void> {
  let head = await linkBacklog(client)
  while (!signal.aborted) {
    const next = await publishBatch(client, deps, head)
    if (next) head = next
    else await bell.wait(pollMs, signal)
  }
}

/**
 * Publishes the next committed events, then moves the cursor and the head of the audit chain. Returns the new head,
 * or null if there was nothing to publish.
 */
async function publishBatch(client: PoolClient, deps: RelayDeps, head: Head): Promise<Head | null> {
  // The cursor is a subquery instead of a join, so that it becomes an index condition: an empty pass must not
  // scan every event.
  const { rows } = await client.query({
    name: 'relay_batch',
    text: `select e.position, e.xid::text as xid, e.event_id, e.type, e.schema_version, e.stream,
                  e.stream_version, e.data, e.meta, e.occurred_at
             from write.event e
            where (e.xid, e.position) > (select c.xid, c.position from write.relay_cursor c)
              and e.xid < pg_snapshot_xmin(pg_current_snapshot())
            order by e.xid, e.position
            limit $1`,
    values: [deps.batchSize ?? 500],
  })
  const last = rows.at(-1)
  if (!last) return null
  const appended = deps.log.append(
    deps.topic,
    rows.map(row => toLogRecord(toRecorded(row))),
  )
  // The database hashes in parallel, so that the chain costs the relay almost nothing.
  const [events] = await Promise.all([readDigests(client, head, last), appended])
  return advance(client, head, events)
}

/** CloudEvents attribute names as headers; the value alone is the whole event. */
function toLogRecord(event: Recorded): LogRecord {
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
    value: Buffer.from(JSON.stringify(event)),
  }
}
