import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type ClientBase, escapeIdentifier } from 'pg'
import { locks } from './locks.ts'
import { createPool } from './pool.ts'
import { inTransactionOn } from './transaction.ts'
import { withLock } from './with-lock.ts'

export type MigrationSet = {
  schema: string
  /** Folder of files `0001_what_it_makes.sql`, numbered upwards. */
  folder: string
}

type Migration = { version: number; name: string; path: string }

/** How long to wait for another process that is migrating the database, in milliseconds. */
const waitMs = 10 * 60_000

/**
 * Brings schemas up to the newest files of their folders, each file in its own transaction with the schema as search
 * path. Throws without changing a schema that is newer than its files.
 */
export async function migrate(url: string, sets: readonly MigrationSet[]): Promise<void> {
  const pool = createPool(url, {
    max: 1,
    applicationName: 'forge migrate',
    // A migration of large tables may take long, but while it waits for a lock all later queries wait behind it.
    statementTimeoutMs: null,
    lockTimeoutMs: 60_000,
  })
  try {
    // One at a time for the whole database, so that processes starting together do not collide.
    await withLock(pool, { lock: locks.migration, waitMs }, async client => {
      for (const set of sets) await migrateSchema(client, set)
    })
  } finally {
    await pool.end()
  }
}

async function migrateSchema(client: ClientBase, { schema, folder }: MigrationSet): Promise<void> {
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
  // Every missing file, not only those above the highest number: each slice has its own range of numbers.
  for (const migration of migrations)
    if (!applied.has(migration.version)) await apply(client, name, migration)
}

async function migrationsIn(folder: string): Promise<Migration[]> {
  const files = (await readdir(folder)).filter(file => file.endsWith('.sql')).sort()
  return files.map(file => {
    const [, number, name] = /^(\d{4})_([a-z0-9_]+)\.sql$/.exec(file) ?? []
    if (!number || !name) throw new Error(`${folder}: ${file} is not named like 0001_name.sql`)
    return { version: Number(number), name, path: join(folder, file) }
  })
}

async function apply(client: ClientBase, schema: string, migration: Migration): Promise<void> {
  const sql = await readFile(migration.path, 'utf8')
  try {
    await inTransactionOn(client, async () => {
      await client.query(`set local search_path = ${schema}`)
      await client.query(sql)
      await client.query(`insert into ${schema}.migration (version, name) values ($1, $2)`, [
        migration.version,
        migration.name,
      ])
    })
  } catch (cause) {
    throw new Error(`Migration ${migration.path} failed: ${(cause as Error).message}`, { cause })
  }
}
