import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type ClientBase, escapeIdentifier } from 'pg'
import { CannotStart } from '../cannot-start.ts'
import { locks } from './locks.ts'
import { createSchema, type Migration, record, runIn } from './migration.ts'
import { createPool } from './pool.ts'
import { adopt, type Squashed } from './squashed.ts'
import { inTransactionOn } from './transaction.ts'
import { withLock } from './with-lock.ts'

export type MigrationSet = {
  schema: string
  /** Folder of files `0001_what_it_makes.sql`, numbered upwards. */
  folder: string
  /** The migrations that the first files of the folder replace. */
  squashed?: Squashed
}

/** A migration that is about to be applied, the `nth` of `total` in this call. */
export type Step = { nth: number; total: number; schema: string; migration: string }

type Pending = { schema: string; migration: Migration }

/** How long to wait for another process that is migrating the database, in milliseconds. */
const waitMs = 10 * 60_000

/**
 * Brings schemas up to the newest files of their folders, each file in its own transaction with the schema as search
 * path: whatever interrupts it, the next call resumes with the first file that is missing. Throws `CannotStart` without
 * changing anything if a schema is newer than its files, or incomplete and older than they can continue.
 */
export async function migrate(
  url: string,
  sets: readonly MigrationSet[],
  tell: (step: Step) => void = () => {},
): Promise<void> {
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
      const pending: Pending[] = []
      for (const set of sets) pending.push(...(await pendingIn(client, set)))
      for (const [index, { schema, migration }] of pending.entries()) {
        const { version, name } = migration
        const file = `${String(version).padStart(4, '0')}_${name}`
        tell({ nth: index + 1, total: pending.length, schema, migration: file })
        await apply(client, schema, migration)
      }
    })
  } finally {
    await pool.end()
  }
}

async function pendingIn(client: ClientBase, set: MigrationSet): Promise<Pending[]> {
  const { schema } = set
  const migrations = await migrationsIn(set.folder)
  await createSchema(client, schema)
  const applied = await appliedIn(client, schema)
  const present = Math.max(0, ...applied)
  const newest = migrations.at(-1)?.version ?? 0
  if (present > newest)
    throw new CannotStart(
      `Schema "${schema}" of the database is at version ${present}, but this program knows only version ${newest}; start the newer program, or restore an older database.`,
    )
  const { squashed } = set
  if (squashed?.replaced.some(version => applied.has(version))) {
    const added = await adopt(client, { schema, squashed, migrations, applied })
    for (const version of added) applied.add(version)
  }
  // Every missing file, not only those above the highest number: each slice has its own range of numbers.
  return migrations
    .filter(({ version }) => !applied.has(version))
    .map(migration => ({ schema, migration }))
}

async function appliedIn(client: ClientBase, schema: string): Promise<Set<number>> {
  const { rows } = await client.query<{ version: number }>(
    `select version from ${escapeIdentifier(schema)}.migration`,
  )
  return new Set(rows.map(row => Number(row.version)))
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
  try {
    await inTransactionOn(client, async () => {
      await runIn(client, schema, migration)
      await record(client, schema, migration)
    })
  } catch (cause) {
    throw new Error(`Migration ${migration.path} failed: ${(cause as Error).message}`, { cause })
  }
}
