import type { Pool } from 'pg'
import type { Person } from '../../../auth/caller.ts'

/** Somebody as the routes see them once they are signed in. */
export const person = (username: string, role: Person['role'] = 'operator'): Person => ({
  kind: 'person',
  username,
  role,
  sid: 's',
  via: 'test',
  issuedAt: new Date(0),
  expiresAt: new Date(0),
})

/** One person with a private project, a run in it, and a row of it in every table there is. */
export type Owner = { username: string; project: string; run_id: string; no: number }

/** A row of each table of the read models that people's queries may read, for this owner; other values do not matter. */
export async function fillEveryTable(pool: Pool, owner: Owner): Promise<void> {
  const { rows } = await pool.query<Column>(
    `select c.relname as table, a.attname as name, format_type(a.atttypid, null) as type
       from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      where c.relnamespace = 'read'::regnamespace and c.relkind = 'r' and c.relrowsecurity
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

/** Everybody's member, so that one reader sees all that belongs to projects. */
export const member = 'mia'

function cellOf({ table, name, type }: Column, owner: Owner): unknown {
  const telling: Record<string, unknown> = {
    'projects.name': owner.project,
    'project_members.username': member,
    'metric_name.key': owner.project,
    username: owner.username,
    owner: owner.username,
    project: owner.project,
    run_id: owner.run_id,
    run_no: owner.no,
    key_no: owner.no,
    change: owner.no,
    short_id: `${owner.project}-1`,
    artifact_id: `art_${owner.no}`,
    visibility: 'private',
    role: 'viewer',
  }
  return telling[`${table}.${name}`] ?? telling[name] ?? anyOf(type)
}

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
