import { randomBytes } from 'node:crypto'
import test, { type ExecutionContext } from 'ava'
import type { Pool } from 'pg'
import { migrate } from '../../../platform/postgres/migrate.ts'
import { createPool } from '../../../platform/postgres/pool.ts'
import { prepareReaderRole } from '../../../platform/postgres/reader-role.ts'
import type { ReadTables } from '../../../query-api/compose.ts'
import { createReads } from '../../../query-api/reading/reads.ts'
import { migrationSets } from '../../../server/database/migrations.ts'
import { startForge } from '../../servers/forge.ts'
import { database } from '../../servers/postgres.ts'
import { signedIn } from '../../servers/signed-in.ts'
import { fillEveryTable, person } from './rows.ts'

type Plain = { url: string; user: string; administrator: Pool }

/** Roles outlive the databases of tests. */
async function asAdministrator(url: string, database: string, statements: readonly string[]) {
  const own = new URL(url)
  own.pathname = `/${database}`
  const pool = createPool(own.toString(), { max: 1, applicationName: 'forge test' })
  for (const statement of statements) await pool.query(statement)
  await pool.end()
}

/** A database whose user owns it, but may neither create roles nor bypass row-level security. */
async function plainDatabase(t: ExecutionContext): Promise<Plain> {
  const { pool: administrator, url } = await database(t)
  // Role and database share the name.
  const user = `plain_${randomBytes(6).toString('hex')}`
  await administrator.query(`create role ${user} login password 'plain'`)
  await administrator.query(`create database ${user} owner ${user}`)
  t.teardown(() =>
    asAdministrator(url, 'postgres', [`drop database ${user} with (force)`, `drop role ${user}`]),
  )
  const own = new URL(url)
  own.username = user
  own.password = 'plain'
  own.pathname = `/${user}`
  return { url: own.toString(), user, administrator }
}

test('without the right to assume the role, the missing grant is reported; once granted, row-level security works', async t => {
  // Creates the role if no test has done so yet.
  const { url: another } = await database(t)
  await prepareReaderRole(another, 'read')
  const { url, user, administrator } = await plainDatabase(t)
  await migrate(url, migrationSets)
  t.deepEqual(await prepareReaderRole(url, 'read'), {
    role: null,
    why: "the database's user may not assume the role forge_reader",
  })
  await administrator.query(`grant forge_reader to ${user}`)
  const { role } = await prepareReaderRole(url, 'read')
  t.is(role, 'forge_reader')
  const pool = createPool(url, { max: 3, searchPath: 'read', applicationName: 'forge test' })
  t.teardown(() => pool.end())
  for (const [no, name] of ['ada', 'bob'].entries())
    await fillEveryTable(pool, {
      username: name,
      project: `of-${name}`,
      run_id: `run_${name}`,
      no,
    })
  const reads = createReads<ReadTables>({ pool, role })
  const seen = async (username: string, held: 'operator' | 'admin' = 'operator') =>
    (await reads.as(person(username, held)).selectFrom('runs').select('run_id').execute()).length
  t.deepEqual([await seen('ada'), await seen('eve'), await seen('root', 'admin')], [1, 0, 2])
  await administrator.query(`revoke forge_reader from ${user}`)
})

test('a user who may create roles creates it and assumes it', async t => {
  const { url, user, administrator } = await plainDatabase(t)
  await migrate(url, migrationSets)
  const name = `reader_${user}`
  const administratorUrl = String(administrator.options.connectionString)
  t.teardown(() =>
    asAdministrator(administratorUrl, user, [`drop owned by ${name}`, `drop role ${name}`]),
  )
  await administrator.query(`alter role ${user} createrole`)
  t.is((await prepareReaderRole(url, 'read', name)).role, name)
  t.is((await prepareReaderRole(url, 'read', name)).role, name)
  const { rows } = await administrator.query(
    'select rolcanlogin, rolbypassrls, rolsuper from pg_roles where rolname = $1',
    [name],
  )
  t.deepEqual(rows, [{ rolcanlogin: false, rolbypassrls: false, rolsuper: false }])
})

test('without the role the server starts without row-level security, logs it, and still filters', async t => {
  const { url: another } = await database(t)
  await prepareReaderRole(another, 'read')
  const { url } = await plainDatabase(t)
  const forge = await startForge(t, { SERVICE_DATABASE_URL: url })
  t.regex(forge.output(), /Row-level security is off.*CREATE ROLE forge_reader NOLOGIN/s)
  t.regex(forge.output(), /All work in the database runs with the rights.*ALTER ROLE.*CREATEROLE/s)
  const [alice, bob] = [await signedIn(forge, 'alice'), await signedIn(forge, 'bob')]
  const created = await forge.call<{ run_id: string }>('POST', '/api/runs', {
    token: alice,
    body: { project: 'alices' },
  })
  const path = `/api/runs/${created.body.run_id}`
  t.is((await forge.call('GET', path, { token: alice })).status, 200)
  t.is((await forge.call('GET', path, { token: bob })).status, 404)
  t.is((await forge.call<object[]>('GET', '/api/runs', { token: bob })).body.length, 0)
})

test('a role that bypasses row-level security is not used', async t => {
  const { url, pool } = await database(t)
  const role = `bypass_${randomBytes(6).toString('hex')}`
  await pool.query(`create role ${role} nologin bypassrls`)
  t.teardown(() => asAdministrator(url, 'postgres', [`drop role ${role}`]))
  t.deepEqual(await prepareReaderRole(url, 'read', role), {
    role: null,
    why: `the role ${role} bypasses row-level security`,
  })
})
