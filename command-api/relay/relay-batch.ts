import type { ClientBase, Pool } from 'pg'
import { contentDigest } from '../../platform/hash-chain.ts'
import { type Envelope, envelopeOf } from '../commit/event-store.ts'

/** An event to publish, and its place in the order of commits. */
export type Unpublished = {
  epoch: number
  xid: string
  position: number
  /** The part that the audit chain covers. */
  digest: Buffer
  /** Its approximate size on the log. */
  bytes: number
  event: Envelope
  /** JSON, which is passed on unchanged. */
  data: string
}

/** Maximum size of a batch on the log, which a Kafka broker accepts unless its limits were lowered; a single event may be larger. */
const maxBytes = 768 * 1024
/** Size of an event besides its data and its cause: ids and names, once in the value and once as headers. */
const frameBytes = 500

const columns = `e.epoch, e.xid, e.position, e.event_id, e.type, e.schema_version, e.stream, e.stream_version,
  json.data, e.meta, e.occurred_at, ${contentDigest} as digest,
  octet_length(json.data) + octet_length(e.meta::text) + ${frameBytes} as bytes`
/** `offset`, so that the size of long data is measured on the text that is read anyway. */
const events = 'write.event e cross join lateral (select e.data::text as data offset 0) json'

/**
 * Later commits have larger ids in the epoch of this cluster, and nothing can appear below the lowest open transaction. The
 * bounds are subqueries instead of joins, so that they become index conditions: an empty pass must not scan every event.
 */
const isCommitted = `(e.epoch, e.xid) < (
  select n.number, pg_snapshot_xmin(pg_current_snapshot()) from write.epoch n)`
const isUnpublished = `(e.epoch, e.xid, e.position) > (select c.epoch, c.xid, c.position from write.relay_cursor c)`
const inOrder = 'order by e.epoch, e.xid, e.position'

/** The next committed events, in order. Read one at a time, so that no more of a backlog is read than fits. */
const nextBatch = {
  name: 'relay_batch',
  text: `with recursive batch as (
           (select ${columns}, 1 as nth from ${events} where ${isUnpublished} and ${isCommitted} ${inOrder} limit 1)
           union all
           select next.*, b.nth + 1 from batch b cross join lateral (
             select ${columns.replace('octet_length', 'b.bytes + octet_length')} from ${events}
              where (e.epoch, e.xid, e.position) > (b.epoch, b.xid, b.position) and ${isCommitted} ${inOrder} limit 1
           ) as next
            where b.nth < $1 and next.bytes <= ${maxBytes})
         select epoch, xid::text as xid, position, event_id, type, schema_version, stream, stream_version, data, meta,
                occurred_at, digest, bytes - lag(bytes, 1, 0) over (order by nth) as bytes
           from batch order by nth`,
}

/** Whether a batch ended before the events did. */
export const isFull = (batch: readonly Unpublished[], limit: number): boolean =>
  batch.length >= limit || batch.reduce((sum, { bytes }) => sum + bytes, 0) > maxBytes / 2

export async function readBatch(client: ClientBase, limit: number): Promise<Unpublished[]> {
  const { rows } = await client.query({ ...nextBatch, values: [limit] })
  return rows.map(({ epoch, xid, position, digest, bytes, data, ...row }) => ({
    ...{ epoch, xid, position, digest, bytes, data },
    event: envelopeOf(row),
  }))
}

/** How long ago the oldest unpublished event was decided, in milliseconds; 0 if there is none. */
export async function relayLagMs(pool: Pool, now: Date): Promise<number> {
  const { rows } = await pool.query<{ occurred_at: Date }>({
    name: 'relay_lag',
    text: `select e.occurred_at from write.event e where ${isUnpublished} ${inOrder} limit 1`,
  })
  const oldest = rows[0]?.occurred_at
  return oldest ? Math.max(0, now.getTime() - oldest.getTime()) : 0
}
