import { createHash, randomBytes } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ExecutionContext } from 'ava'
import { Kysely, PostgresDialect } from 'kysely'
import { Pool } from 'pg'
import { locks } from '../../platform/postgres/locks.ts'
import { type MigrationSet, migrate } from '../../platform/postgres/migrate.ts'
import { createPool } from '../../platform/postgres/pool.ts'
import { withLock } from '../../platform/postgres/with-lock.ts'
import { addressOf } from './rendezvous.ts'

const folder = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url))

/** The schemas of Forge; each database of a test has them all. */
const schemas: MigrationSet[] = [
  { schema: 'log', folder: folder('platform/log/migrations') },
  { schema: 'auth', folder: folder('auth/migrations') },
  { schema: 'write', folder: folder('command-api/migrations') },
  { schema: 'read', folder: folder('projector/migrations') },
]

export type TestDatabase<Tables> = {
  url: string
  pool: Pool
  kysely: Kysely<Tables>
}

/** What needs to be told of a test to end with it. */
export type Scope = Pick<ExecutionContext, 'title' | 'teardown'> &
  Partial<Pick<ExecutionContext, 'passed' | 'log'>>

export type DatabaseOptions = {
  /** The search path of `pool` and `kysely`; default `public`. */
  schema?: 'log' | 'auth' | 'write' | 'read'
}

const templateWaitMs = 120_000

/** An empty database with all schemas migrated, for this test alone; dropped when the test is over. */
export async function database<Tables = Record<string, never>>(
  t: Scope,
  options: DatabaseOptions = {},
): Promise<TestDatabase<Tables>> {
  const name = await copyOf(await emptyTemplate())
  t.teardown(() => dropDatabase(name))
  return connect<Tables>(t, inDatabase(await addressOf('postgres'), name), options)
}

/** Connections of the test's own to a database. */
export function connect<Tables = Record<string, never>>(
  t: Scope,
  url: string,
  { schema }: DatabaseOptions = {},
): TestDatabase<Tables> {
  const pool = createPool(url, {
    max: 10,
    applicationName: t.title,
    ...(schema ? { searchPath: schema } : {}),
  })
  const kysely = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
  t.teardown(async () => {
    if (!pool.ending) await pool.end()
  })
  return { url, pool, kysely }
}

/** The name of a new database, copied from a template that nobody uses. */
export async function copyOf(template: string): Promise<string> {
  const name = `test_${randomBytes(8).toString('hex')}`
  const administrators = await administratorPool()
  await administrators.query(`create database ${name} template ${template} strategy file_copy`)
  return name
}

export async function dropDatabase(name: string): Promise<void> {
  const administrators = await administratorPool()
  await administrators.query(`drop database if exists ${name} with (force)`)
}

let empty: Promise<string> | null = null

/** The template of databases with all schemas and nothing in them, made by the first to ask. */
export function emptyTemplate(): Promise<string> {
  empty ??= templateName().then(name =>
    madeOnce(name, async url => {
      await migrate(url, schemas)
    }),
  )
  return empty
}

/** The template of this name, filled by `fill` where there is none yet. It gets its name when it is complete. */
export async function madeOnce(
  name: string,
  fill: (url: string) => Promise<void>,
  from = 'template1',
): Promise<string> {
  const server = await addressOf('postgres')
  const lock = { lock: locks.testTemplate, waitMs: templateWaitMs }
  await withLock(await administratorPool(), lock, async client => {
    const sql = 'select 1 from pg_database where datname = $1'
    if ((await client.query(sql, [name])).rowCount) return
    const draft = `${name}_draft`
    await client.query(`drop database if exists ${draft} with (force)`)
    await client.query(`create database ${draft} template ${from}`)
    await fill(inDatabase(server, draft))
    await client.query(`alter database ${draft} rename to ${name}`)
  })
  return name
}

let administrators: Promise<Pool> | null = null

/** Of this thread; it keeps nothing alive. */
function administratorPool(): Promise<Pool> {
  administrators ??= addressOf('postgres').then(
    server =>
      new Pool({
        connectionString: inDatabase(server, 'postgres'),
        application_name: 'forge test',
        max: 2,
        allowExitOnIdle: true,
      }),
  )
  return administrators
}

/** Changes with the migrations, so that a server that runs on takes edited ones. */
async function templateName(): Promise<string> {
  const hash = createHash('sha256')
  for (const { schema, folder } of schemas)
    for (const file of (await readdir(folder)).sort())
      hash.update(`${schema}/${file}\n`).update(await readFile(join(folder, file)))
  return `template_${hash.digest('hex').slice(0, 16)}`
}

export function inDatabase(server: string, name: string): string {
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.toString()
}
