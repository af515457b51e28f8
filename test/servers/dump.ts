import type { Pool } from 'pg'

/** Every table of the live read models as sorted text, except tables that a rebuild may cut differently. */
export async function dumpReadModels(
  pool: Pool,
  isCompared: (table: string) => boolean,
): Promise<Record<string, string[]>> {
  const { rows: tables } = await pool.query<{ name: string }>(
    `select table_name as name from information_schema.tables
      where table_schema = 'read' and table_type = 'BASE TABLE' order by 1`,
  )
  const dump: Record<string, string[]> = {}
  for (const { name } of tables.filter(table => isCompared(table.name))) {
    const { rows } = await pool.query<{ row: string }>(
      `select t::text as row from read."${name}" t order by t::text collate "C"`,
    )
    dump[name] = rows.map(({ row }) => row)
  }
  return dump
}
