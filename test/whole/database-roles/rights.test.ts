import test, { type ExecutionContext } from 'ava'
import type { Pool } from 'pg'
import { createPool } from '../../../platform/postgres/pool.ts'
import { addressAs } from '../../../server/database/address.ts'
import { serviceRoles } from '../../../server/database/rights.ts'
import { startForge } from '../../servers/forge.ts'
import { database } from '../../servers/postgres.ts'
import { createRun, ingest } from '../../servers/runs.ts'
import { until } from '../../servers/until.ts'

const roles = [...serviceRoles, 'forge_reader']

/** Connections as each role that can log in. */
async function asRoles(t: ExecutionContext) {
  const { pool, url } = await database(t)
  const as = (role: string) => {
    const own = createPool(addressAs(url, role), { max: 1, applicationName: 'forge test role' })
    t.teardown(() => own.end())
    return own
  }
  return { owner: pool, all: serviceRoles.map(role => ({ role, pool: as(role) })) }
}

test('no role has an attribute or a membership by which it could get more rights', async t => {
  const { owner } = await asRoles(t)
  const { rows } = await owner.query(
    `select rolname, rolsuper, rolbypassrls, rolcreaterole, rolcreatedb, rolreplication, rolcanlogin,
            array(select b.rolname::text from pg_auth_members m join pg_roles b on b.oid = m.roleid
                   where m.member = r.oid) as member_of
       from pg_roles r where rolname = any($1) order by 1`,
    [roles],
  )
  const nothing = {
    rolsuper: false,
    rolbypassrls: false,
    rolcreaterole: false,
    rolcreatedb: false,
    rolreplication: false,
    rolcanlogin: true,
    member_of: [],
  }
  t.deepEqual(rows, [
    { ...nothing, rolname: 'forge_commands' },
    { ...nothing, rolname: 'forge_projector' },
    { ...nothing, rolname: 'forge_queries', member_of: ['forge_reader'] },
    { ...nothing, rolname: 'forge_reader', rolcanlogin: false },
  ])
  const { rows: powers } = await owner.query(
    `select p.rolname as power, r.rolname as role from pg_roles p, pg_roles r
      where p.rolname ~ '^pg_' and r.rolname = any($1) and pg_has_role(r.oid, p.oid, 'member')`,
    [roles],
  )
  t.deepEqual(powers, [])
})

const refused = [
  "copy (select 1) to program 'true'",
  "copy pg_temp.here from program 'true'",
  "copy (select 1) to '/tmp/forge-copied'",
  "copy pg_temp.here from '/etc/passwd'",
  "select pg_read_file('/etc/passwd')",
  "select lo_import('/etc/passwd')",
  'create role another',
  'create schema another',
  'create table read.another ()',
  'create table write.another ()',
  'create extension dblink',
  "alter system set archive_command = 'true'",
  'alter table write.event disable trigger all',
  'drop table read.runs',
  'truncate write.event',
  'update write.event set type = type',
  'delete from write.event',
  'delete from write.audit_chain',
  'set role forge',
  'set session authorization forge',
  'alter role current_user bypassrls',
]

test('no role can run a program, read a file, or change the schema or recorded events', async t => {
  const { all } = await asRoles(t)
  for (const { role, pool } of all) {
    await pool.query('create temporary table here (line text)')
    for (const statement of refused) {
      const error = await t.throwsAsync(pool.query(statement), undefined, `${role}: ${statement}`)
      t.regex(
        String(error?.message),
        /permission denied|must be (owner|superuser)|must have|only roles with/i,
        `${role}: ${statement}`,
      )
    }
  }
})

/** How many tables of each schema a role may use for this. */
async function countOf(owner: Pool, role: string, privilege: string) {
  const { rows } = await owner.query<{ schema: string; tables: number; may: number }>(
    `select n.nspname as schema, count(*) as tables,
            count(*) filter (where has_schema_privilege($1, n.oid, 'usage')
                               and has_table_privilege($1, c.oid, $2)) as may
       from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname in ('auth', 'log', 'read', 'write') and c.relkind in ('r', 'p') and not c.relispartition
        and c.relname <> 'migration'
      group by 1 order by 1`,
    [role, privilege],
  )
  return Object.fromEntries(
    rows.map(({ schema, tables, may }) => [schema, may === tables ? 'all' : may]),
  )
}

test('each role may use the tables of its work and no others', async t => {
  const { owner } = await asRoles(t)
  const none = { auth: 0, log: 0, read: 0, write: 0 }
  const { rows } = await owner.query<{ tables: number }>(
    `select count(*) as tables from pg_class where relnamespace = 'write'::regnamespace and relkind in ('r', 'p')`,
  )
  // Without `migration`, and without the two that are only added to.
  const changed = Number(rows[0]?.tables) - 3
  const everything = { auth: 'all', log: 'all', read: 'all', write: 'all' }
  const counted: [string, string, object][] = [
    ['forge_commands', 'select', everything],
    ['forge_commands', 'insert', everything],
    ['forge_commands', 'update', { ...everything, write: changed }],
    ['forge_commands', 'delete', { ...everything, write: changed }],
    ['forge_projector', 'select', { ...none, read: 'all', write: 1 }],
    ['forge_projector', 'update', { ...none, read: 'all' }],
    ['forge_queries', 'select', { ...none, read: 'all', write: 4 }],
    ...['insert', 'update', 'delete'].map(
      privilege => ['forge_queries', privilege, none] as [string, string, object],
    ),
    ...roles.flatMap(role =>
      ['truncate', 'references', 'trigger'].map(
        privilege => [role, privilege, none] as [string, string, object],
      ),
    ),
    ['forge_reader', 'insert', none],
  ]
  for (const [role, privilege, expected] of counted)
    t.deepEqual(await countOf(owner, role, privilege), expected, `${privilege} of ${role}`)
  const { rows: owned } = await owner.query(
    `select relname from pg_class where relowner in (select oid from pg_roles where rolname = any($1))`,
    [roles],
  )
  t.deepEqual(owned, [])
})

test('functions that run as the owner search no schema where others may create', async t => {
  const { owner } = await asRoles(t)
  const { rows } = await owner.query<{ name: string; path: string | null; everybody: boolean }>(
    `select p.oid::regproc::text as name, array_to_string(p.proconfig, ';') as path,
            has_function_privilege('forge_reader', p.oid, 'execute') as everybody
       from pg_proc p join pg_language l on l.oid = p.prolang
      where p.prosecdef and l.lanname <> 'sql' and p.pronamespace::regnamespace::text in ('auth', 'log', 'read', 'write')
      order by 1`,
  )
  t.deepEqual(rows, [
    { name: 'log.add_leaf', path: 'search_path=log, pg_temp', everybody: false },
    { name: 'log.drop_leaf', path: 'search_path=log, pg_temp', everybody: false },
    {
      name: 'read.drop_traffic_partition',
      path: 'search_path=pg_catalog, pg_temp',
      everybody: false,
    },
    { name: 'read.traffic_partition', path: 'search_path=pg_catalog, pg_temp', everybody: false },
  ])
  const { rows: bound } = await owner.query(
    `select p.oid::regproc from pg_proc p join pg_language l on l.oid = p.prolang
      where p.prosecdef and l.lanname = 'sql' and p.prosqlbody is null
        and p.pronamespace::regnamespace::text in ('auth', 'log', 'read', 'write')`,
  )
  t.deepEqual(bound, [], 'their bodies are bound to the tables they name')
})

test('partitions are dropped only where they are partitions, and only of read models', async t => {
  const { owner, all } = await asRoles(t)
  const projector = all.find(({ role }) => role === 'forge_projector')?.pool
  if (!projector) throw new Error('there is no such role')
  await projector.query(`select read.traffic_partition('read', '2026-01-01')`)
  await projector.query(`select read.drop_traffic_partition('read', 'runs')`)
  await projector.query(`select read.drop_traffic_partition('read', 'traffic_20260101')`)
  const { rows } = await owner.query(
    `select to_regclass('read.runs') is not null as runs, to_regclass('read.traffic_20260101') is null as dropped`,
  )
  t.deepEqual(rows, [{ runs: true, dropped: true }])
  for (const schema of ['write', 'pg_temp', 'public'])
    await t.throwsAsync(
      projector.query('select read.traffic_partition($1, now()::date)', [schema]),
      {
        message: /is no generation/,
      },
    )
})

test('a server at work has no connection with more rights than those of these roles', async t => {
  const forge = await startForge(t)
  const run = await createRun(forge)
  await ingest(forge, run, 'metrics', { points: [{ key: 'loss', step: 1, value: 1 }] })
  await until('the metric can be read', 30_000, async () => {
    const { body } = await forge.call<unknown[]>('GET', `/api/runs/${run.run_id}/metrics/keys`)
    return body.length === 1
  })
  t.is((await forge.call('GET', '/api/audit')).status, 200)
  t.is((await forge.call('GET', '/api/admin/projections')).status, 200)
  const { rows } = await forge.pool.query<{ program: string; username: string }>(
    `select distinct application_name as program, usename as username from pg_stat_activity
      where datname = current_database() and application_name ~ '^forge ' order by 1`,
  )
  const users = Object.fromEntries(rows.map(({ program, username }) => [program, username]))
  t.deepEqual(
    rows.filter(({ username }) => !serviceRoles.some(role => role === username)),
    [],
  )
  t.like(users, {
    'forge write': 'forge_commands',
    'forge log': 'forge_commands',
    'forge read': 'forge_projector',
    'forge query': 'forge_queries',
    'forge audit': 'forge_queries',
  })
})
