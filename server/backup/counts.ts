import { type ClientBase, escapeIdentifier } from 'pg'

/** The rows of each table, by `schema.table`, as this session sees them. */
export async function countRows(
  session: ClientBase,
  signal: AbortSignal,
): Promise<Record<string, number>> {
  // Unlogged and temporary tables are not restored; a partitioned table has the rows of its partitions.
  const { rows: tables } = await session.query<{ schema: string; name: string }>(
    `select n.nspname as schema, c.relname as name
       from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where c.relkind = 'r' and c.relpersistence = 'p'
        and n.nspname <> 'information_schema' and n.nspname not like 'pg\\_%'
      order by 1, 2`,
  )
  const counts: Record<string, number> = {}
  for (const { schema, name } of tables) {
    signal.throwIfAborted()
    const { rows } = await session.query<{ count: number }>(
      `select count(*) as count from ${escapeIdentifier(schema)}.${escapeIdentifier(name)}`,
    )
    counts[`${schema}.${name}`] = rows[0]?.count ?? 0
  }
  return counts
}

/** How the counts of a restored database differ from those of the backup, a line each. */
export function differences(
  expected: Readonly<Record<string, number>>,
  found: Readonly<Record<string, number>>,
): string[] {
  const names = [...new Set([...Object.keys(expected), ...Object.keys(found)])].sort()
  return names.flatMap(name => {
    const [before, after] = [expected[name], found[name]]
    if (before === after) return []
    if (after === undefined) return [`the table ${name} is missing`]
    if (before === undefined) return [`the table ${name} was not in the backup`]
    return [`${name} has ${after} rows instead of ${before}`]
  })
}
