import { type Kysely, sql } from 'kysely'
import { toRow } from './events.ts'
import { type AuditPage, fitting, maxCounted } from './page.ts'

export type StreamsQuery = {
  streams: readonly string[]
  /** Types that are left out. */
  hidden: readonly string[]
  limit: number
  offset: number
}

/**
 * The events of these streams, oldest first; a page of very large ones ends early. The caller has checked access.
 */
export async function eventsOfStreams(
  db: Kysely<unknown>,
  { streams, hidden, limit, offset }: StreamsQuery,
): Promise<AuditPage> {
  const theirs = sql`write.event where stream = any(${streams}) and type <> all(${hidden})`
  const { rows: counts } = await sql<{ count: number }>`
    select count(*) as count from (select from ${theirs} limit ${maxCounted}) as found`.execute(db)
  // Sorts only positions, because an event may be large.
  const found = sql`
    select *, position as place from write.event where position = any(array(
      select position from ${theirs} order by position limit ${limit} offset ${offset}))`
  const { rows } = await fitting(found).execute(db)
  return { rows: rows.map(toRow), counted: counts[0]?.count ?? 0 }
}
