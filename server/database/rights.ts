import { type ClientBase, DatabaseError } from 'pg'
import { locks } from '../../platform/postgres/locks.ts'
import {
  asPermitted,
  ensureRole,
  permitLogin,
  RoleUnusable,
} from '../../platform/postgres/login-role.ts'
import { createPool } from '../../platform/postgres/pool.ts'
import { ensureReaderRole, prepareReaderRole } from '../../platform/postgres/reader-role.ts'
import { withLock } from '../../platform/postgres/with-lock.ts'
import { addressAs } from './address.ts'

/** Addresses of the database, each for one kind of work (docs/adr/0023-roles-of-the-database.md). */
export type Addresses = { commands: string; projector: string; queries: string }

export type Rights = {
  addresses: Addresses
  /** The role that row-level policies for people apply to; null if there is none. */
  reader: string | null
  /** Why people's reads have no row-level security; null if they have it. */
  withoutReader: string | null
  /** Why all work runs as the user of the given address; null if each kind has its role. */
  withoutRoles: string | null
}

/** Roles are shared by the databases of a cluster; grants and policies are made in each. */
export const serviceRoles = ['forge_commands', 'forge_projector', 'forge_queries'] as const
type ServiceRole = (typeof serviceRoles)[number]

const change = ['select', 'insert', 'update', 'delete']
/** Rows are only added, and never changed, not even by the server. */
const appendOnly = ['write.event', 'write.audit_chain']
/** The tables of the write side that the audit reads. */
const audited = ['write.event', 'write.audit_chain', 'write.audit_head', 'write.relay_cursor']

type Access = { role: ServiceRole; schema: string; privileges: readonly string[] }

/** Commands also apply reports that the projector had parked, in their own transaction (server/roles/dead-letters.ts). */
const accessTo = (schema: string, isReadModel: boolean): Access[] =>
  isReadModel
    ? [
        { role: 'forge_commands', schema, privileges: change },
        { role: 'forge_projector', schema, privileges: change },
        { role: 'forge_queries', schema, privileges: ['select'] },
      ]
    : [{ role: 'forge_commands', schema, privileges: change }]

/** Functions that run as the owner, and their callers. */
const ownersFunctions = (schema: string, isReadModel: boolean) => {
  if (isReadModel) return ['traffic_partition', 'drop_traffic_partition']
  return schema === 'log' ? ['add_leaf', 'drop_leaf'] : []
}

/** How long to wait for another process that prepares the same, in milliseconds. */
const waitMs = 60_000
const attempts = 5

/**
 * Prepares the roles of this database after its migrations, and returns the addresses to connect to. Repeating it is
 * harmless. Where the user of the address may not create roles, everything runs as that user.
 */
export async function prepareRights(url: string): Promise<Rights> {
  const { role: reader, why } = await prepareReaderRole(url, 'read')
  const alone = { commands: url, projector: url, queries: url }
  const without = { addresses: alone, reader, withoutReader: why }
  if (reader === null) return { ...without, withoutRoles: why }
  // pg also takes a path to a socket.
  if (!URL.canParse(url)) return { ...without, withoutRoles: 'the address is not a URL' }
  try {
    await withGrants(url, async client => {
      for (const role of serviceRoles) await ensureRole(client, role)
      await becomeReader(client, reader)
      for (const schema of ['auth', 'log', 'write']) await grantSchema(client, schema, false)
      const readers = ['forge_projector', 'forge_queries'] as const
      await grant(client, { kind: 'schema', object: 'write', privilege: 'usage' }, readers)
      // A projection that starts again recognizes the events that it has applied.
      await grant(client, { kind: 'table', object: 'write.event', privilege: 'select' }, readers)
      for (const object of audited)
        await grant(client, { kind: 'table', object, privilege: 'select' }, ['forge_queries'])
      await grantSchema(client, 'read', true)
      for (const role of serviceRoles)
        await permitLogin(client, { role, address: addressAs(url, role) })
    })
    return { ...without, addresses: addressesOf(url), withoutRoles: null }
  } catch (error) {
    if (!(error instanceof RoleUnusable)) throw error
    return { ...without, withoutRoles: error.message }
  }
}

const addressesOf = (url: string): Addresses => ({
  commands: addressAs(url, 'forge_commands'),
  projector: addressAs(url, 'forge_projector'),
  queries: addressAs(url, 'forge_queries'),
})

/** Grants the rights on a new generation of the read models, whatever roles there are. */
export async function prepareGeneration(url: string, schema: string): Promise<void> {
  await prepareReaderRole(url, schema)
  await withGrants(url, async client => {
    const { rowCount } = await client.query('select from pg_roles where rolname = any($1)', [
      serviceRoles,
    ])
    if (rowCount === serviceRoles.length) await grantSchema(client, schema, true)
  }).catch(error => {
    if (!(error instanceof RoleUnusable)) throw error
  })
}

/** Creates only the roles, without logins: a dump names them, so they must exist before it is restored. */
export async function ensureRoles(url: string): Promise<{ why: string | null }> {
  const { role, why } = await ensureReaderRole(url)
  if (role === null) return { why }
  try {
    await withGrants(url, async client => {
      for (const name of serviceRoles) await ensureRole(client, name)
    })
    return { why: null }
  } catch (error) {
    if (!(error instanceof RoleUnusable)) throw error
    return { why: error.message }
  }
}

async function withGrants(url: string, work: (client: ClientBase) => Promise<void>): Promise<void> {
  const pool = createPool(url, {
    max: 1,
    applicationName: 'forge rights',
    // A new policy waits until no transaction uses its table.
    statementTimeoutMs: null,
    lockTimeoutMs: 30_000,
  })
  try {
    for (let attempt = 1; ; attempt++)
      try {
        return await withLock(pool, { lock: locks.readerGrant, waitMs }, work)
      } catch (error) {
        if (!isRace(error) || attempt === attempts) throw error
      }
  } finally {
    await pool.end()
  }
}

/** Another database of the cluster, whose locks are its own, changed the same role or membership meanwhile. */
const isRace = (error: unknown): boolean =>
  error instanceof DatabaseError &&
  (error.code === '23505' || /tuple concurrently updated/.test(error.message))

/** Queries for people run as the reader; those for administrators as the role itself. */
async function becomeReader(client: ClientBase, reader: string): Promise<void> {
  const { rows } = await client.query<{ is_member: boolean }>(
    `select pg_has_role('forge_queries', $1, 'member') as is_member`,
    [reader],
  )
  if (!rows[0]?.is_member)
    await asPermitted(client, `grant ${reader}`, `grant ${reader} to forge_queries`)
}

async function grantSchema(
  client: ClientBase,
  schema: string,
  isReadModel: boolean,
): Promise<void> {
  const accesses = accessTo(schema, isReadModel)
  for (const access of accesses) {
    await grant(client, { kind: 'schema', object: schema, privilege: 'usage' }, [access.role])
    for (const sql of await missingGrants(client, access))
      await asPermitted(client, `grant rights on the schema ${schema}`, sql)
  }
  if (isReadModel) await admitRoles(client, schema)
  const callers = accesses.flatMap(({ role }) => (role === 'forge_queries' ? [] : [role]))
  for (const name of ownersFunctions(schema, isReadModel))
    await grant(
      client,
      { kind: 'function', object: `${schema}.${name}`, privilege: 'execute' },
      callers,
    )
}

type Right = { kind: 'schema' | 'table' | 'function'; object: string; privilege: string }

/** Nothing if the roles have the right: repeated grants would still change the catalog. */
async function grant(
  client: ClientBase,
  { kind, object, privilege }: Right,
  roles: readonly ServiceRole[],
): Promise<void> {
  const oid = { schema: 'regnamespace', table: 'regclass', function: 'regproc' }[kind]
  for (const role of roles) {
    const { rows } = await client.query<{ has: boolean }>(
      `select has_${kind}_privilege($1, $2::${oid}::oid, $3) as has`,
      [role, object, privilege],
    )
    if (rows[0]?.has) continue
    const sql = `grant ${privilege} on ${kind} ${object} to ${role}`
    await asPermitted(client, `grant rights on the ${kind} ${object}`, sql)
  }
}

/** The statements for all missing grants. Partitions are only used through their tables. */
async function missingGrants(
  client: ClientBase,
  { role, schema, privileges }: Access,
): Promise<string[]> {
  const { rows } = await client.query<{ relation: string; kind: string }>(
    `select c.oid::regclass::text as relation, c.relkind as kind from pg_class c
      where c.relnamespace = to_regnamespace($1) and not c.relispartition
        and case when c.relkind = 'S' then not has_sequence_privilege($2, c.oid, 'usage')
                 when c.relkind in ('r', 'p', 'v') then exists (
                   select from unnest(case when format('%s.%s', $1, c.relname) = any($4) then array['select', 'insert']
                                           when c.relkind = 'v' or c.relname = 'migration' then array['select']
                                           else $3::text[] end) as p
                    where not has_table_privilege($2, c.oid, p))
            end`,
    [schema, role, privileges, appendOnly],
  )
  return rows.map(({ relation, kind }) => {
    if (kind === 'S') return `grant usage, select, update on sequence ${relation} to ${role}`
    const isRead = kind === 'v' || relation === `${schema}.migration`
    const some = privileges.filter(privilege =>
      isRead
        ? privilege === 'select'
        : !appendOnly.includes(relation) || ['select', 'insert'].includes(privilege),
    )
    return `grant ${some.join(', ')} on ${relation} to ${role}`
  })
}

/** Policies hide rows from people; they are not for the roles that write all rows, or read them for administrators. */
async function admitRoles(client: ClientBase, schema: string): Promise<void> {
  const { rows } = await client.query<{ relation: string }>(
    `select c.oid::regclass::text as relation from pg_class c
      where c.relnamespace = to_regnamespace($1) and c.relkind in ('r', 'p') and c.relrowsecurity
        and not c.relispartition
        and not exists (select from pg_policy p where p.polrelid = c.oid and p.polname = 'server')`,
    [schema],
  )
  for (const { relation } of rows)
    await asPermitted(
      client,
      `create policies on ${relation}`,
      `create policy server on ${relation} to ${serviceRoles.join(', ')} using (true) with check (true)`,
    )
}
