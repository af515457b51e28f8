import { type Kysely, type QueryExecutorProvider, sql } from 'kysely'
import type { Event, Recorded } from '../events/event.ts'

/** Values by column, as in JSON. */
export type Row = Record<string, unknown>

/** How a slice creates the row that it keeps per stream. */
export type NewRows<E extends Event> = {
  table: string
  /** The initial row of a stream; null for events other than the first. */
  begin(event: Recorded<E>): Row | null
  /** An unstored row after a further event; null if that event needs the row to be in the table. */
  fold(row: Row, event: Recorded<E>): Row | null
}

/**
 * Applies events in order, but stores new rows together, at a fraction of the cost of one statement each: many
 * streams begin at once when many jobs are submitted.
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
