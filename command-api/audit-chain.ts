import type { ClientBase } from 'pg'
import { contentDigest, type Head, linkAfter } from '../platform/hash-chain.ts'

/** The part of an event that the chain covers. */
export type Hashed = { xid: string; position: number; digest: Buffer }

async function readHead(client: ClientBase): Promise<Head> {
  const { rows } = await client.query<Head>(
    'select link, xid::text as xid, position, hash from write.audit_head',
  )
  const [head] = rows
  if (!head) throw new Error('write.audit_head has lost its row')
  return head
}

/** Links to add: one hash per position, in commit order. */
type Links = { positions: number[]; hashes: Buffer[] }

/**
 * Adds links for events in commit order and moves the relay's cursor to the last of them, both in one statement;
 * returns the new head.
 */
export async function advance(
  client: ClientBase,
  head: Head,
  events: readonly Hashed[],
): Promise<Head> {
  const last = events.at(-1)
  if (!last) return head
  const { positions, hashes } = linksAfter(head, events)
  const next = {
    link: head.link + events.length,
    xid: last.xid,
    position: last.position,
    hash: hashes.at(-1) ?? head.hash,
  }
  await client.query({
    name: 'relay_advance',
    text: `with linked as (
             insert into write.audit_chain (position, link, hash)
             select event.position, $1 + event.nth, substr($3::bytea, (event.nth * 32 - 31)::int, 32)
               from unnest($2::bigint[]) with ordinality as event(position, nth)),
           moved as (
             update write.relay_cursor set xid = greatest(xid, $4::text::xid8), position = $5
              where (xid, position) < ($4::text::xid8, $5))
           update write.audit_head set link = $6, xid = $4::text::xid8, position = $5, hash = $7`,
    values: [
      head.link,
      positions,
      Buffer.concat(hashes),
      next.xid,
      next.position,
      next.link,
      next.hash,
    ],
  })
  return next
}

function linksAfter(head: Head, events: readonly Hashed[]): Links {
  let before = head.hash
  const hashes = events.map(event => {
    before = linkAfter(before, event.digest)
    return before
  })
  return { positions: events.map(event => event.position), hashes }
}

/** The events after the head up to this one, in commit order. */
export async function readDigests(
  client: ClientBase,
  head: Head,
  last: Pick<Head, 'xid' | 'position'>,
  limit: number | null = null,
): Promise<Hashed[]> {
  const { rows } = await client.query<Hashed>({
    name: 'relay_digests',
    text: `select e.xid::text as xid, e.position, ${contentDigest} as digest from write.event e
            where (e.xid, e.position) > ($1::text::xid8, $2)
              and (e.xid, e.position) <= ($3::text::xid8, $4)
            order by e.xid, e.position limit $5`,
    values: [head.xid, head.position, last.xid, last.position, limit],
  })
  return rows
}

const perBatch = 1000

/**
 * Links events that a version without the chain published before an upgrade. Returns the head from which the relay
 * continues.
 */
export async function linkBacklog(client: ClientBase): Promise<Head> {
  const { rows } = await client.query<Pick<Head, 'xid' | 'position'>>(
    'select xid::text as xid, position from write.relay_cursor',
  )
  const cursor = rows[0] ?? { xid: '0', position: 0 }
  let head = await readHead(client)
  for (;;) {
    const events = await readDigests(client, head, cursor, perBatch)
    if (events.length === 0) return head
    head = await advance(client, head, events)
  }
}
