import { type ClientBase, DatabaseError, escapeLiteral } from 'pg'
import { createPool } from './pool.ts'

/** A role cannot be made, used or trusted here; the message says why. */
export class RoleUnusable extends Error {}

/** SQLSTATEs: no right to do it; the role exists; the password, `pg_hba.conf` or a pooler refuses it. */
const insufficientPrivilege = '42501'
const alreadyThere = ['42710', '23505']
const refused = ['28P01', '28000', '08P01']

const codeOf = (error: unknown) => (error instanceof DatabaseError ? (error.code ?? '') : '')

/** Runs a statement that needs rights on roles or objects; `what` names the act. */
export async function asPermitted(client: ClientBase, what: string, sql: string): Promise<void> {
  try {
    await client.query(sql)
  } catch (error) {
    if (codeOf(error) !== insufficientPrivilege) throw error
    throw new RoleUnusable(`the database's user may not ${what}`)
  }
}

const attributes = 'nosuperuser nocreatedb nocreaterole noreplication nobypassrls'

/**
 * Creates a role without any right if it is missing. Roles are shared by the databases of a cluster, so the comment says
 * which of them may change its password.
 */
export async function ensureRole(client: ClientBase, name: string): Promise<void> {
  const { rowCount } = await client.query('select from pg_roles where rolname = $1', [name])
  if (rowCount === 1) return await refusePowerful(client, name)
  try {
    await asPermitted(
      client,
      `create the role ${name}`,
      `create role ${name} nologin ${attributes}`,
    )
  } catch (error) {
    // A server on another database of the cluster created it in between.
    if (!alreadyThere.includes(codeOf(error))) throw error
    return await refusePowerful(client, name)
  }
  const { rows } = await client.query<{ name: string }>('select current_database() as name')
  await client.query(`comment on role ${name} is ${escapeLiteral(ownerIs(rows[0]?.name ?? ''))}`)
}

const ownerIs = (database: string) => `made by Forge for the database ${database}`

async function refusePowerful(client: ClientBase, name: string): Promise<void> {
  const { rows } = await client.query(
    `select rolsuper or rolbypassrls or rolcreaterole or rolcreatedb or rolreplication
            or exists (select from pg_roles p where p.rolname in ('pg_execute_server_program', 'pg_read_server_files',
                         'pg_write_server_files') and pg_has_role(r.rolname, p.oid, 'member')) as is_powerful
       from pg_roles r where rolname = $1`,
    [name],
  )
  if (rows[0]?.is_powerful) throw new RoleUnusable(`the role ${name} has more rights than it needs`)
}

/** Makes sure that connections to `address`, which names this role, can be opened; gives the role that password. */
export async function permitLogin(
  client: ClientBase,
  { role, address }: { role: string; address: string },
): Promise<void> {
  const { rows } = await client.query<{ database: string; comment: string | null; login: boolean }>(
    `select current_database() as database, shobj_description(oid, 'pg_authid') as comment, rolcanlogin as login
       from pg_roles where rolname = $1`,
    [role],
  )
  const [found] = rows
  if (found?.login && (await canLogIn(role, address))) return
  // Another installation on this cluster, whose connections must not break.
  if (found?.login && found.comment !== ownerIs(found.database))
    throw new RoleUnusable(`the role ${role} exists with another password`)
  // Without one, the server trusts its clients or knows them by other means.
  const { password } = new URL(address)
  const given = password === '' ? '' : ` password ${escapeLiteral(password)}`
  await asPermitted(client, `let ${role} log in`, `alter role ${role} login${given}`)
  if (!(await canLogIn(role, address)))
    throw new RoleUnusable(`the database does not let ${role} log in (pg_hba.conf)`)
}

async function canLogIn(role: string, address: string): Promise<boolean> {
  const pool = createPool(address, { max: 1, applicationName: 'forge role' })
  try {
    const { rows } = await pool.query<{ user: string }>('select session_user as user')
    return rows[0]?.user === role
  } catch (error) {
    if (refused.includes(codeOf(error))) return false
    throw error
  } finally {
    await pool.end()
  }
}
