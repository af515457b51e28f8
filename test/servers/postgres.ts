import { createHash, randomBytes } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ExecutionContext } from 'ava'
import { Kysely, PostgresDialect } from 'kysely'
import type { ClientBase, Pool } from 'pg'
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
export type Scope = Pick<ExecutionContext, 'title' | 'teardown'>

export type DatabaseOptions = {
  /** The search path of `pool` and `kysely`; default `public`. */
  schema?: 'log' | 'auth' | 'write' | 'read'
}

const templateWaitMs = 120_000

/** An empty database with all schemas migrated, for this test alone; dropped when the test is over. */
export async function database<Tables = Record<string, never>>(
  t: Scope,
  { schema }: DatabaseOptions = {},
): Promise<TestDatabase<Tables>> {
  const server = await addressOf('postgres')
  const name = `test_${randomBytes(8).toString('hex')}`
  const template = await templateName()
  await asAdministrator(server, async administrators =>
    withLock(administrators, { lock: locks.testTemplate, waitMs: templateWaitMs }, async client => {
      await makeTemplate(client, server, template)
      await client.query(`create database ${name} template ${template} strategy file_copy`)
    }),
  )
  const url = inDatabase(server, name)
  const pool = createPool(url, {
    max: 10,
    applicationName: t.title,
    ...(schema ? { searchPath: schema } : {}),
  })
  const kysely = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
  t.teardown(async () => {
    if (!pool.ending) await pool.end()
    await asAdministrator(server, pool => pool.query(`drop database ${name} with (force)`))
  })
  return { url, pool, kysely }
}

async function makeTemplate(client: ClientBase, server: string, template: string): Promise<void> {
  const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [
    template,
  ])
  if (rowCount) return
  const draft = `${template}_draft`
  await client.query(`drop database if exists ${draft} with (force)`)
  await client.query(`create database ${draft}`)
  await migrate(inDatabase(server, draft), schemas)
  await client.query(`alter database ${draft} rename to ${template}`)
}

/** Changes with the migrations, so that a server that runs on takes edited ones. */
async function templateName(): Promise<string> {
  const hash = createHash('sha256')
  for (const { schema, folder } of schemas)
    for (const file of (await readdir(folder)).sort())
      hash.update(`${schema}/${file}\n`).update(await readFile(join(folder, file)))
  return `template_${hash.digest('hex').slice(0, 16)}`
}

async function asAdministrator<T>(server: string, work: (pool: Pool) => Promise<T>): Promise<T> {
  const pool = createPool(inDatabase(server, 'postgres'), {
    max: 1,
    applicationName: 'forge test',
    statementTimeoutMs: null,
  })
  try {
    return await work(pool)
  } finally {
    await pool.end()
  }
}

function inDatabase(server: string, name: string): string {
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.toString()
}
