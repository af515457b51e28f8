import type { ClientBase } from 'pg'
import { contentDigest, genesis, type Head, linkAfter } from '../../platform/hash-chain.ts'

/** The part of an event that the chain covers. */
export type Hashed = Place & { digest: Buffer }

/** In the order of commits. */
type Place = Pick<Head, 'epoch' | 'xid' | 'position'>

/** Whether it comes later in the order of commits. */
export function isAfter(one: Place, other: Place): boolean {
  if (one.epoch !== other.epoch) return one.epoch > other.epoch
  const [xid, otherXid] = [BigInt(one.xid), BigInt(other.xid)]
  return xid === otherXid ? one.position > other.position : xid > otherXid
}

async function readHead(client: ClientBase): Promise<Head> {
  const { rows } = await client.query<Head>(
    'select link, epoch, xid::text as xid, position, hash from write.audit_head',
  )
  const [head] = rows
  if (!head) throw new Error('write.audit_head has lost its row')
  return head
}

/** Links to add: one hash per position, in commit order. */
type Links = { positions: number[]; hashes: Buffer[] }

/**
 * Adds links for events in commit order and moves the relay's cursor to `published`, both in one statement; returns the
 * new head. Events that are published again already have links, so there may be none to add.
 */
export async function advance(
  client: ClientBase,
  head: Head,
  events: readonly Hashed[],
  published: Place,
): Promise<Head> {
  const { positions, hashes } = linksAfter(head, events)
  const { epoch, xid, position } = events.at(-1) ?? head
  const next = {
    link: head.link + events.length,
    epoch,
    xid,
    position,
    hash: hashes.at(-1) ?? head.hash,
  }
  await client.query({
    name: 'relay_advance',
    text: `with linked as (
             insert into write.audit_chain (position, link, hash)
             select event.position::bigint, $1 + event.nth, substr($3::bytea, (event.nth * 32 - 31)::int, 32)
               from jsonb_array_elements($2) with ordinality as event(position, nth)),
           moved as (
             update write.relay_cursor set epoch = $4, xid = $5::text::xid8, position = $6
              where (epoch, xid, position) < ($4, $5::text::xid8, $6))
           update write.audit_head
              set link = $7, epoch = $8, xid = $9::text::xid8, position = $10, hash = $11`,
    values: [
      head.link,
      // The planner's estimate for JSON does not depend on its length, so the prepared plan is kept.
      JSON.stringify(positions),
      Buffer.concat(hashes),
      published.epoch,
      published.xid,
      published.position,
      next.link,
      epoch,
      xid,
      position,
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
async function readDigests(
  client: ClientBase,
  head: Head,
  last: Place,
  limit: number,
): Promise<Hashed[]> {
  const { rows } = await client.query<Hashed>({
    name: 'relay_digests',
    text: `select e.epoch, e.xid::text as xid, e.position, ${contentDigest} as digest from write.event e
            where (e.epoch, e.xid, e.position) > ($1, $2::text::xid8, $3)
              and (e.epoch, e.xid, e.position) <= ($4, $5::text::xid8, $6)
            order by e.epoch, e.xid, e.position limit $7`,
    values: [head.epoch, head.xid, head.position, last.epoch, last.xid, last.position, limit],
  })
  return rows
}

const perBatch = 1000

/**
 * Links events that a version without the chain published before an upgrade. Returns the head from which the relay
 * continues.
 */
export async function linkBacklog(client: ClientBase): Promise<Head> {
  const { rows } = await client.query<Place>(
    'select epoch, xid::text as xid, position from write.relay_cursor',
  )
  const cursor = rows[0] ?? genesis
  let head = await readHead(client)
  for (;;) {
    const events = await readDigests(client, head, cursor, perBatch)
    const last = events.at(-1)
    if (!last) return head
    head = await advance(client, head, events, last)
  }
}
