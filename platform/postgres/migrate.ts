import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Client, escapeIdentifier } from 'pg'

export type MigrationSet = {
  schema: string
  /** Folder of files `0001_what_it_makes.sql`, numbered upwards. */
  folder: string
}

type Migration = { version: number; name: string; path: string }

/** One at a time for the whole database, so that processes starting together do not collide. */
const migrationLock = 7_265_002

/**
 * Brings a schema up to the newest file of its folder, each file in a transaction of its own with the
 * schema as search path. Throws when the database is newer than the files, and changes nothing then.
 */
export async function migrate(url: string, sets: readonly MigrationSet[]): Promise<void> {
  const client = new Client({ connectionString: url, application_name: 'forge migrate' })
  client.on('error', () => {})
  await client.connect()
  try {
    await client.query('select pg_advisory_lock($1)', [migrationLock])
    for (const set of sets) await migrateSchema(client, set)
  } finally {
    // The lock goes with the session.
    await client.end()
  }
}

async function migrateSchema(client: Client, { schema, folder }: MigrationSet): Promise<void> {
  const migrations = await migrationsIn(folder)
  const name = escapeIdentifier(schema)
  await client.query(`create schema if not exists ${name}`)
  await client.query(
    `create table if not exists ${name}.migration (
       version integer primary key, name text not null, applied_at timestamptz not null default now())`,
  )
  const { rows } = await client.query(`select version from ${name}.migration`)
  const applied = new Set(rows.map(row => Number(row.version)))
  const present = Math.max(0, ...applied)
  const newest = migrations.at(-1)?.version ?? 0
  if (present > newest)
    throw new Error(
      `Schema "${schema}" of the database is at version ${present}, but this program knows only version ${newest}; start the newer program, or restore an older database.`,
    )
  // By set and not by the highest number: each slice has a range of its own and grows in it.
  for (const migration of migrations)
    if (!applied.has(migration.version)) await apply(client, name, migration)
}

async function migrationsIn(folder: string): Promise<Migration[]> {
  const files = (await readdir(folder)).filter(file => file.endsWith('.sql')).sort()
  return files.map(file => {
    const [, number, name] = /^(\d{4})_([a-z0-9_]+)\.sql$/.exec(file) ?? []
    if (!number || !name) throw new Error(`${folder}: ${file} is not called like 0001_name.sql`)
    return { version: Number(number), name, path: join(folder, file) }
  })
}

async function apply(client: Client, schema: string, migration: Migration): Promise<void> {
  const sql = await readFile(migration.path, 'utf8')
  try {
    await client.query('begin')
    await client.query(`set local search_path = ${schema}`)
    await client.query(sql)
    await client.query(`insert into ${schema}.migration (version, name) values ($1, $2)`, [
      migration.version,
      migration.name,
    ])
    await client.query('commit')
  } catch (cause) {
    await client.query('rollback')
    throw new Error(`Migration ${migration.path} failed: ${(cause as Error).message}`, { cause })
  }
}
