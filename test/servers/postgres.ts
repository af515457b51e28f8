import type { ExecutionContext } from 'ava'
import { Kysely, PostgresDialect } from 'kysely'
import type { Pool } from 'pg'
import { createPool } from '../../platform/postgres/pool.ts'
import { type Databases, databasesAt } from './databases.ts'
import { addressOf } from './rendezvous.ts'

export type TestDatabase<Tables> = {
  url: string
  pool: Pool
  kysely: Kysely<Tables>
}

/** The hooks by which things end with a test. */
export type Scope = Pick<ExecutionContext, 'title' | 'teardown'> &
  Partial<Pick<ExecutionContext, 'passed' | 'log'>>

export type DatabaseOptions = {
  /** The server of this lane that has the template; default `postgres`. */
  server?: 'postgres' | 'samples-postgres'
  /** The search path of `pool` and `kysely`; default `public`. */
  schema?: 'log' | 'auth' | 'write' | 'read'
}

const opened = new Map<string, Promise<Databases>>()

/** The databases of a server of this thread's lane. */
function databases(server: DatabaseOptions['server'] = 'postgres'): Promise<Databases> {
  const known = opened.get(server) ?? addressOf(server).then(databasesAt)
  opened.set(server, known)
  return known
}

let empty: Promise<string> | null = null

/** An empty database with all schemas migrated, for this test alone; dropped when the test is over. */
export async function database<Tables = Record<string, never>>(
  t: Scope,
  options: DatabaseOptions = {},
): Promise<TestDatabase<Tables>> {
  empty ??= databases().then(({ emptyTemplate }) => emptyTemplate())
  return await databaseFrom<Tables>(t, await empty, options)
}

/** The same, as a copy of the template of this name. */
export async function databaseFrom<Tables = Record<string, never>>(
  t: Scope,
  template: string,
  { schema, server }: DatabaseOptions = {},
): Promise<TestDatabase<Tables>> {
  const { copyOf, drop } = await databases(server)
  const { name, url } = await copyOf(template)
  const pool = createPool(url, {
    max: 10,
    applicationName: t.title,
    ...(schema ? { searchPath: schema } : {}),
  })
  const kysely = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
  t.teardown(async () => {
    if (!pool.ending) await pool.end()
    await drop(name)
  })
  return { url, pool, kysely }
}
