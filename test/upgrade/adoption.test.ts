import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import type { Pool } from 'pg'
import { CannotStart } from '../../platform/cannot-start.ts'
import { migrate } from '../../platform/postgres/migrate.ts'
import { migrationSets } from '../../server/database/migrations.ts'
import { databaseFrom } from '../servers/postgres.ts'
import { catalogs } from './catalogs.ts'
import { setsOf, type Unpacked, unpack } from './fixture.ts'

async function earlier(t: ExecutionContext): Promise<Unpacked> {
  const { remove, ...unpacked } = await unpack('0001-before-the-squash')
  t.teardown(remove)
  return unpacked
}

const applied = async (pool: Pool) =>
  (await pool.query('select version, name from read.migration order by version')).rows

test('a database with some of the replaced migrations is refused, with what to start first', async t => {
  const unpacked = await earlier(t)
  const { url, pool } = await databaseFrom(t, 'template1')
  await rm(join(unpacked.folder, 'migrations/read/0670_roles_that_read_all.sql'))
  await migrate(url, setsOf(unpacked))
  const before = await applied(pool)
  const error = await t.throwsAsync(migrate(url, migrationSets), { instanceOf: CannotStart })
  t.regex(
    String(error?.message),
    /^Schema "read" of the database lacks migration 670 of an earlier version.*Start commit \w{8} of Forge on it once/,
  )
  t.deepEqual(await applied(pool), before)
})

const changes = {
  'alter table write.job_state drop column sealed_env':
    /"write".*\ncolumn job_state \d+ sealed_env/,
  'drop index write.job_queue': /"write".*\nindex CREATE INDEX job_queue/,
  'drop policy readable on read.alerts': /"read".*\npolicy alerts readable/,
  'alter table read.alerts disable row level security': /"read".*\nrelation alerts/,
  'alter table auth.session alter authenticated_at drop default': /"auth".*\ncolumn session/,
  'drop trigger event_is_kept on write.audit_chain': /"write".*\ntrigger/,
  'alter table write.artifact drop constraint artifact_run_id_kind_path_step_key':
    /"write".*\nconstraint artifact/,
  'create or replace function read.caller() returns text language sql as $$ select null $$':
    /"read".*\nfunction/,
}

test('a database that differs from its migrations is refused, with the differences', async t => {
  const unpacked = await earlier(t)
  for (const [sql, message] of Object.entries(changes)) {
    const { url, pool } = await databaseFrom(t, 'template1')
    await migrate(url, setsOf(unpacked))
    await pool.query(sql)
    const [before, then] = [await applied(pool), await catalogs(url)]
    await t.throwsAsync(migrate(url, migrationSets), { instanceOf: CannotStart, message }, sql)
    t.deepEqual(await applied(pool), before, sql)
    t.deepEqual(await catalogs(url), then, sql)
  }
})

test('an adopted database is refused by the version before', async t => {
  const unpacked = await earlier(t)
  const { url } = await databaseFrom(t, 'template1')
  await migrate(url, setsOf(unpacked))
  await migrate(url, migrationSets)
  await t.throwsAsync(migrate(url, setsOf(unpacked)), { message: /knows only version 148/ })
})
