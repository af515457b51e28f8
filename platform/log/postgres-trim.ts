import type { Pool } from 'pg'
import { inTransaction } from '../postgres/transaction.ts'
import type { LaneId } from './group-commit.ts'

export type TrimOptions = {
  /** Records appended earlier may be dropped. */
  before: Date
  /** Above this size on disk, in bytes, the oldest records are dropped regardless of age. Default: no limit. */
  maxBytes?: number
  /** The first offset still needed, which is kept with all later ones; index = partition. */
  keepFrom: readonly bigint[]
}

type Leaf = {
  lane: number
  first_offset: string
  end_offset: string
  table_name: string
  newest: Date
  bytes: number
}

/** Short, because dropping a leaf waits for its users, and new ones queue behind the drop. */
const lockWithinMs = 2_000

/**
 * Drops whole leaves of a topic, oldest first, and returns the number of dropped records. A leaf that is still
 * being filled stays. May run in several processes at once.
 */
export async function trimLanes(
  pool: Pool,
  lanes: readonly LaneId[],
  { before, maxBytes = Number.POSITIVE_INFINITY, keepFrom }: TrimOptions,
): Promise<number> {
  const partitionOf = new Map(lanes.map(({ lane, partition }) => [lane, partition]))
  const leaves = await fullLeaves(pool, [...partitionOf.keys()])
  let bytes = await sizeOf(pool, [...partitionOf.keys()])
  let dropped = 0
  const isBlocked = new Set<number>()
  for (const leaf of leaves) {
    const keep = keepFrom[partitionOf.get(leaf.lane) ?? -1] ?? 0n
    const mayGo = BigInt(leaf.end_offset) <= keep && (leaf.newest < before || bytes > maxBytes)
    // Offsets must not get gaps: everything after a kept leaf is kept.
    if (!mayGo) isBlocked.add(leaf.lane)
    if (isBlocked.has(leaf.lane)) continue
    await drop(pool, leaf)
    bytes -= leaf.bytes
    dropped += Number(BigInt(leaf.end_offset) - BigInt(leaf.first_offset))
  }
  return dropped
}

/** Oldest first. */
async function fullLeaves(pool: Pool, lanes: readonly number[]): Promise<Leaf[]> {
  const { rows } = await pool.query<Leaf>(
    `select leaf.lane, leaf.first_offset::text, end_offset::text, table_name,
            record.appended_at as newest,
            coalesce(pg_total_relation_size(to_regclass(format('log.%I', table_name))), 0) as bytes
       from log.leaf join log.lane using (lane)
            join log.record on record.lane = leaf.lane and record."offset" = end_offset - 1
      where leaf.lane = any($1) and end_offset <= next_offset
      order by record.appended_at, leaf.first_offset`,
    [lanes],
  )
  return rows
}

async function sizeOf(pool: Pool, lanes: readonly number[]): Promise<number> {
  const { rows } = await pool.query(
    // Null for a leaf that another process drops meanwhile.
    `select coalesce(sum(pg_total_relation_size(to_regclass(format('log.%I', table_name)))), 0)::bigint as bytes
       from log.leaf where lane = any($1)`,
    [lanes],
  )
  return Number(rows[0]?.bytes)
}

async function drop(pool: Pool, leaf: Leaf): Promise<void> {
  await inTransaction(pool, async tx => {
    await tx.query(`set local lock_timeout = ${lockWithinMs}`)
    await tx.query('select log.drop_leaf($1, $2)', [leaf.lane, leaf.first_offset])
  })
}
