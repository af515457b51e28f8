import { type ClientBase, DatabaseError, escapeIdentifier } from 'pg'
import { locks } from './locks.ts'
import { createPool } from './pool.ts'
import { withLock } from './with-lock.ts'

/** `role` is null if row-level policies cannot be enforced here; `why` is the reason. */
export type ReaderRole = { role: string; why: null } | { role: null; why: string }

/** Roles are shared by the databases of a cluster; grants are made in each. */
const readerRole = 'forge_reader'
const insufficientPrivilege = '42501'
/** How long to wait for another process that creates the role, in milliseconds. */
const waitMs = 60_000

class Unguarded extends Error {}

/**
 * Creates the role that reads rows on behalf of people, if missing, and lets it read this schema's views and its
 * tables with row-level security, nothing else. Repeating it is harmless.
 */
export const prepareReaderRole = (
  url: string,
  schema: string,
  name = readerRole,
): Promise<ReaderRole> =>
  prepared(url, name, async client => {
    await refuseBypass(client, name)
    await becomeMember(client, name)
    await grantReads(client, { schema, name })
  })

/** Creates only the role: a dump refers to it, so it must exist before the restore. */
export const ensureReaderRole = (url: string, name = readerRole): Promise<ReaderRole> =>
  prepared(url, name, async () => {})

async function prepared(
  url: string,
  name: string,
  work: (client: ClientBase) => Promise<void>,
): Promise<ReaderRole> {
  const pool = createPool(url, { max: 1, applicationName: 'forge reader role' })
  try {
    // Concurrent grants of processes that start together would fail.
    return await withLock(pool, { lock: locks.readerGrant, waitMs }, async client => {
      await makeRole(client, name)
      await work(client)
      return { role: name, why: null }
    })
  } catch (error) {
    if (error instanceof Unguarded) return { role: null, why: error.message }
    throw error
  } finally {
    await pool.end()
  }
}

async function makeRole(client: ClientBase, name: string): Promise<void> {
  const { rowCount } = await client.query('select from pg_roles where rolname = $1', [name])
  if (rowCount === 1) return
  try {
    await client.query(`create role ${name} nologin`)
  } catch (error) {
    // A server on another database of the cluster may have created it in between.
    if (error instanceof DatabaseError && ['42710', '23505'].includes(error.code ?? '')) return
    throw orUnguarded(error, `may not create the role ${name}`)
  }
}

async function refuseBypass(client: ClientBase, name: string): Promise<void> {
  const { rows } = await client.query(
    'select rolsuper or rolbypassrls as bypasses from pg_roles where rolname = $1',
    [name],
  )
  if (rows[0]?.bypasses) throw new Unguarded(`the role ${name} bypasses row-level security`)
}

async function becomeMember(client: ClientBase, name: string): Promise<void> {
  if (await mayTakeOn(client, name)) return
  try {
    await client.query(`grant ${name} to current_user`)
  } catch (error) {
    throw orUnguarded(error, `may not assume the role ${name}`)
  }
  if (!(await mayTakeOn(client, name)))
    throw new Unguarded(`the database's user may not assume the role ${name}`)
}

async function mayTakeOn(client: ClientBase, name: string): Promise<boolean> {
  try {
    await client.query(`set role ${name}`)
    await client.query('reset role')
    return true
  } catch (error) {
    if (error instanceof DatabaseError && error.code === insufficientPrivilege) return false
    throw error
  }
}

const orUnguarded = (error: unknown, what: string): unknown =>
  error instanceof DatabaseError && error.code === insufficientPrivilege
    ? new Unguarded(`the database's user ${what}`)
    : error

async function grantReads(
  client: ClientBase,
  { schema, name }: { schema: string; name: string },
): Promise<void> {
  const { rows } = await client.query<{ relation: string }>(
    `select c.oid::regclass::text as relation from pg_class c
      where c.relnamespace = to_regnamespace($1)
        and (c.relkind = 'v' or (c.relkind in ('r', 'p') and c.relrowsecurity))
        and not has_table_privilege($2, c.oid, 'select')`,
    [schema, name],
  )
  await client.query(`grant usage on schema ${escapeIdentifier(schema)} to ${name}`)
  if (rows.length > 0)
    await client.query(`grant select on ${rows.map(row => row.relation).join(', ')} to ${name}`)
}
