import { type Kysely, type QueryExecutorProvider, sql } from 'kysely'
import type { Event, Recorded } from '../events/event.ts'

/** Values by column, as JSON has them. */
export type Row = Record<string, unknown>

/** How the row begins that a slice keeps for each stream. */
export type NewRows<E extends Event> = {
  table: string
  /** The row with which a stream begins; null for other events. */
  begin(event: Recorded<E>): Row | null
  /** A row that is not stored yet, after a further event; null if that event has to find it in the table. */
  fold(row: Row, event: Recorded<E>): Row | null
}

/**
 * Applies events in their order, but stores the new rows together, which costs a fraction of one statement each: many
 * streams begin at once where many jobs are submitted.
 */
export async function applyWithNewRows<E extends Event>(
  tx: Kysely<unknown>,
  events: readonly Recorded<E>[],
  { table, begin, fold }: NewRows<E>,
  apply: (event: Recorded<E>) => Promise<unknown>,
): Promise<void> {
  const fresh = new Map<string, Row>()
  const store = async () => {
    await insertRows(tx, table, [...fresh.values()])
    fresh.clear()
  }
  for (const event of events) {
    const before = fresh.get(event.stream)
    const row = before ? fold(before, event) : begin(event)
    if (row) {
      fresh.set(event.stream, row)
      continue
    }
    if (before) await store()
    await apply(event)
  }
  await store()
}

/** All rows have the same columns. The text of the statement does not depend on their number, so it stays prepared. */
export async function insertRows(
  tx: QueryExecutorProvider,
  table: string,
  rows: readonly Row[],
): Promise<void> {
  const [first] = rows
  if (!first) return
  const columns = sql.join(Object.keys(first).map(name => sql.ref(name)))
  await sql`insert into ${sql.table(table)} (${columns})
            select ${columns} from jsonb_populate_recordset(null::${sql.table(table)}, ${JSON.stringify(rows)})`.execute(
    tx,
  )
}
