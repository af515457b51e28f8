import { type Kysely, type RawBuilder, sql } from 'kysely'

/** Runs are counted up to this. */
const mostCounted = 1000

/** How many runs belong to each reference. `from`: tables and conditions that find the runs of `asked.ref`. */
export async function countRuns<Tables>(
  db: Kysely<Tables>,
  refs: readonly string[],
  from: RawBuilder<unknown>,
): Promise<Map<string, number>> {
  if (refs.length === 0) return new Map()
  const { rows } = await sql<{ ref: string; runs: number }>`
    select asked.ref, counted.runs from unnest(${refs}::text[]) asked (ref)
     cross join lateral (
       select count(*)::int as runs from (select from ${from} limit ${mostCounted}) found) counted`.execute(
    db,
  )
  return new Map(rows.map(({ ref, runs }) => [ref, runs]))
}
