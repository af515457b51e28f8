import { hash } from 'node:crypto'

/** The newest link: its number and its event. */
export type Head = { link: number; epoch: number; xid: string; position: number; hash: Buffer }

/** Before the first link. */
export const genesis: Head = { link: 0, epoch: 0, xid: '0', position: 0, hash: Buffer.alloc(32) }

/**
 * SHA-256 of everything a row `e` of the event table holds, as the text of one JSON array in Postgres' own
 * spelling. The database computes it, so that checking does not transfer whole events. The expression is kept here
 * and not in a database function, which anybody who tampers with events could change as well.
 */
export const contentDigest = `sha256(convert_to(json_build_array(e.position, e.xid::text, e.event_id, e.stream,
  e.stream_version, e.type, e.schema_version, e.data, e.meta, extract(epoch from e.occurred_at))::text, 'UTF8'))`

export const linkAfter = (before: Buffer, digest: Buffer): Buffer =>
  hash('sha256', Buffer.concat([before, digest]), 'buffer')
