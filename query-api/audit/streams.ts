import type { Pool } from 'pg'
import { columns, type StoredEvent, toRow } from './events.ts'
import type { AuditPage } from './list.ts'

export type StreamsQuery = {
  streams: readonly string[]
  /** Types that are left out. */
  hidden: readonly string[]
  limit: number
  offset: number
}

/** Counting stops here. */
const maxCounted = 10_001

/** The events of these streams, the oldest first. Whether somebody may read them, the caller has decided. */
export async function eventsOfStreams(
  pool: Pool,
  { streams, hidden, limit, offset }: StreamsQuery,
): Promise<AuditPage> {
  const { rows: counts } = await pool.query<{ count: number }>(
    `select count(*) as count from (
       select from write.event where stream = any($1) and type <> all($2) limit $3) as found`,
    [streams, hidden, maxCounted],
  )
  // Sorts positions alone: an event may be large.
  const { rows } = await pool.query<StoredEvent>(
    `select ${columns} from write.event where position = any(array(
       select position from write.event where stream = any($1) and type <> all($2)
        order by position limit $3 offset $4)) order by position`,
    [streams, hidden, limit, offset],
  )
  return { rows: rows.map(toRow), counted: counts[0]?.count ?? 0 }
}
