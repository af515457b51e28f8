import { hash } from 'node:crypto'

/** The newest link: how many there are, and the event it is for. */
export type Head = { link: number; xid: string; position: number; hash: Buffer }

/** Before the first link. */
export const genesis: Head = { link: 0, xid: '0', position: 0, hash: Buffer.alloc(32) }

/**
 * SHA-256 of everything a row `e` of the event table holds, as the text of one JSON array in Postgres' own
 * spelling. The database makes it, so that whole events need not travel to be checked; the expression stands
 * here and not in a function of the database, where whoever changes events could change it too.
 */
export const contentDigest = `sha256(convert_to(json_build_array(e.position, e.xid::text, e.event_id, e.stream,
  e.stream_version, e.type, e.schema_version, e.data, e.meta, extract(epoch from e.occurred_at))::text, 'UTF8'))`

export const linkAfter = (before: Buffer, digest: Buffer): Buffer =>
  hash('sha256', Buffer.concat([before, digest]), 'buffer')
