import type { Pool } from 'pg'
import type { Person } from '../../../auth/caller.ts'
import { samples } from '../../samples/all.ts'
import type { RowOwner, TableSample } from '../../samples/sample.ts'

/** A signed-in caller as routes see them. */
export const person = (username: string, role: Person['role'] = 'operator'): Person => ({
  kind: 'person',
  username,
  role,
  sid: 's',
  via: 'test',
  issuedAt: new Date(0),
  expiresAt: new Date(0),
})

/** A row of each table of the read models that people's queries may read, for this owner; other values do not matter. */
export async function fillEveryTable(pool: Pool, owner: RowOwner): Promise<void> {
  await pool.query(`select read.traffic_partition('read', '1970-01-01')`)
  const { rows } = await pool.query<Column>(
    `select c.relname as table, a.attname as name, format_type(a.atttypid, null) as type
       from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      where c.relnamespace = 'read'::regnamespace and c.relkind in ('r', 'p') and c.relrowsecurity
        and not c.relispartition
        and (a.attnotnull or a.attname = 'project') order by c.relname, a.attnum`,
  )
  for (const [table, columns] of Object.entries(Object.groupBy(rows, row => row.table))) {
    const values = (columns ?? []).map(column => cellOf(column, owner))
    await pool.query(
      `insert into read.${table} (${(columns ?? []).map(({ name }) => `"${name}"`)})
       values (${values.map((_, at) => `$${at + 1}`)})`,
      values,
    )
  }
}

type Column = { table: string; name: string; type: string }

function cellOf({ table, name, type }: Column, owner: RowOwner): unknown {
  const { username, project, run_id } = owner
  const cells = { username, owner: username, project, run_id, ...tables[table]?.cells?.(owner) }
  return (cells as Record<string, unknown>)[name] ?? anyOf(type)
}

/** The samples' statements about each table and view of the read models. */
export const tables: Record<string, TableSample> = Object.assign(
  {},
  ...samples.map(sample => sample.tables),
)

function anyOf(type: string): unknown {
  if (type.endsWith('[]')) return []
  const known: Record<string, unknown> = {
    text: 'x',
    jsonb: '{}',
    boolean: false,
    bytea: Buffer.alloc(1),
    'timestamp with time zone': new Date(0),
    uuid: '01900000-0000-7000-8000-000000000000',
  }
  return known[type] ?? 1
}
