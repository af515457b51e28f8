import type { Pool } from 'pg'
import { contentDigest, genesis, type Head, linkAfter } from '../../platform/hash-chain.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { AuditFault, AuditVerdict } from '../../schemas/audit.ts'

/** A head stored outside the database; it must still be on the chain. */
export type KeptHead = { hash: Buffer; position: number }

/** Parses `HASH@POSITION`, the form of a verdict's `head`. */
export function parseHead(text: string): KeptHead {
  const [hash = '', position] = text.split('@')
  return { hash: Buffer.from(hash, 'hex'), position: Number(position) }
}

const headText = ({ hash, position }: KeptHead) => `${hash.toString('hex')}@${position}`

/** An event in its current state, with the link recorded for it; both null if there is none. */
type Linked = {
  epoch: number
  xid: string
  position: number
  digest: Buffer
  link: number | null
  hash: Buffer | null
}

/** Events per query: a few milliseconds of this process, without holding a connection between queries. */
const perBatch = 1000

/**
 * Compares all events, in commit order, with the chain up to its current head, and returns the first deviation from
 * what was recorded.
 */
export async function verifyChain(
  pool: Pool,
  { kept, signal }: { kept: KeptHead | null; signal: AbortSignal },
): Promise<AuditVerdict> {
  const end = await readHead(pool)
  const { last, fault } = await walk(pool, end, signal)
  const first_bad = fault ?? (await tailFault(pool, last, end)) ?? (await keptFault(pool, kept))
  return {
    ok: first_bad === null,
    checked: last.link,
    first_bad,
    head: end.link === 0 ? null : headText(end),
    waiting: await countWaiting(pool, end),
  }
}

async function readHead(pool: Pool): Promise<Head> {
  const { rows } = await pool.query<Head>(
    'select link, epoch, xid::text as xid, position, hash from write.audit_head',
  )
  if (!rows[0]) throw new Error('write.audit_head has lost its row')
  return rows[0]
}

type Walked = { last: Head; fault: AuditFault | null }

async function walk(pool: Pool, end: Head, signal: AbortSignal): Promise<Walked> {
  let last = genesis
  for (;;) {
    if (signal.aborted)
      throw new Refusal('unavailable', 'The client has stopped waiting for the verdict')
    const rows = await readLinked(pool, last, end)
    if (rows.length === 0) return { last, fault: null }
    for (const row of rows) {
      const fault = faultOf(row, last)
      if (fault) return { last, fault: await explain(pool, fault, last) }
      last = { ...row, link: last.link + 1, hash: linkAfter(last.hash, row.digest) }
    }
  }
}

async function readLinked(pool: Pool, last: Head, end: Head): Promise<Linked[]> {
  const { rows } = await pool.query<Linked>({
    name: 'audit_verify',
    text: `select e.epoch, e.xid::text as xid, e.position, ${contentDigest} as digest, c.link, c.hash
             from write.event e left join write.audit_chain c on c.position = e.position
            where (e.epoch, e.xid, e.position) > ($1, $2::text::xid8, $3)
              and (e.epoch, e.xid, e.position) <= ($4, $5::text::xid8, $6)
            order by e.epoch, e.xid, e.position limit $7`,
    values: [last.epoch, last.xid, last.position, end.epoch, end.xid, end.position, perBatch],
  })
  return rows
}

function faultOf({ position, digest, link, hash }: Linked, last: Head): AuditFault | null {
  if (link === null)
    return fault(
      'inserted',
      position,
      'The event was never published: it was inserted later, not by Forge',
    )
  if (link !== last.link + 1)
    return fault('deleted', position, `Link ${link} follows link ${last.link}`)
  if (hash?.equals(linkAfter(last.hash, digest))) return null
  return fault('changed', position, 'The event, or its link, is not what was recorded')
}

const fault = (kind: AuditFault['kind'], position: number, detail: string): AuditFault => ({
  kind,
  position,
  detail,
})

/** Explains a missing link: its event was deleted, or has moved in the order. */
async function explain(pool: Pool, found: AuditFault, last: Head): Promise<AuditFault> {
  if (found.kind !== 'deleted') return found
  const { rows } = await pool.query<{ position: number; is_there: boolean }>(
    `select c.position, exists (select from write.event e where e.position = c.position) as is_there
       from write.audit_chain c where c.link = $1`,
    [last.link + 1],
  )
  const [missed] = rows
  if (!missed) return found
  const { position, is_there } = missed
  return is_there
    ? fault('reordered', position, `It was recorded before the event at position ${found.position}`)
    : fault('deleted', position, `It was recorded before the event at position ${found.position}`)
}

/** Checks that the newest events still exist: the head and the relay's cursor advance with each of them. */
async function tailFault(pool: Pool, last: Head, end: Head): Promise<AuditFault | null> {
  if (last.link !== end.link)
    return fault('truncated', end.position, `${end.link - last.link} of the newest events are gone`)
  if (!last.hash.equals(end.hash))
    return fault('changed', end.position, 'The head differs from the end of the chain')
  const { rows } = await pool.query<{ position: number }>(
    `select c.position from write.relay_cursor c
      where c.position > 0 and not exists (select from write.event e where e.position = c.position)`,
  )
  return rows[0]
    ? fault('truncated', rows[0].position, 'The event was published and no longer exists')
    : null
}

async function keptFault(pool: Pool, kept: KeptHead | null): Promise<AuditFault | null> {
  if (kept === null) return null
  const { rows } = await pool.query<{ hash: Buffer }>(
    'select hash from write.audit_chain where position = $1',
    [kept.position],
  )
  if (rows[0]?.hash.equals(kept.hash)) return null
  const detail = rows[0]
    ? 'The chain is sound, but not the one that was kept'
    : 'The chain has no such event'
  return fault('rewritten', kept.position, detail)
}

/** Committed and not yet published; counted up to 10,001. */
async function countWaiting(pool: Pool, end: Head): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    `select count(*) as count from (
       select from write.event where (epoch, xid, position) > ($1, $2::text::xid8, $3) limit 10001) as waiting`,
    [end.epoch, end.xid, end.position],
  )
  return rows[0]?.count ?? 0
}
