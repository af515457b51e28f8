import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { migrate } from '../../../platform/postgres/migrate.ts'
import { database } from '../../servers/postgres.ts'

async function folderOf(t: ExecutionContext, files: Record<string, string>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'forge-test-migrations-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  for (const [name, sql] of Object.entries(files)) await writeFile(join(folder, name), sql)
  return folder
}

const two = {
  '0001_a.sql': 'create table a (n integer);',
  '0002_b.sql': 'insert into a values (1);',
}

test('each file is applied once, in its schema, however often and concurrently it is tried', async t => {
  const { url, pool } = await database(t)
  const folder = await folderOf(t, two)
  await Promise.all([1, 2, 3].map(() => migrate(url, [{ schema: 'shop', folder }])))
  t.deepEqual((await pool.query('select n from shop.a')).rows, [{ n: 1 }])
  const { rows } = await pool.query('select version, name from shop.migration order by version')
  t.deepEqual(rows, [
    { version: 1, name: 'a' },
    { version: 2, name: 'b' },
  ])
})

test('a failing file is rolled back, and all files before it stay', async t => {
  const { url, pool } = await database(t)
  const folder = await folderOf(t, {
    ...two,
    '0003_c.sql': 'insert into a values (2); select 1/0;',
  })
  await t.throwsAsync(migrate(url, [{ schema: 'shop', folder }]), {
    message: /0003_c\.sql failed: division by zero/,
  })
  t.deepEqual((await pool.query('select n from shop.a')).rows, [{ n: 1 }])
})

test('a database newer than the program is refused and not changed', async t => {
  const { url } = await database(t)
  await migrate(url, [{ schema: 'shop', folder: await folderOf(t, two) }])
  const older = await folderOf(t, { '0001_a.sql': two['0001_a.sql'] })
  await t.throwsAsync(migrate(url, [{ schema: 'shop', folder: older }]), {
    message: /"shop" of the database is at version 2, but this program knows only version 1/,
  })
})

test('a file added later with a lower number is applied as well', async t => {
  const { url, pool } = await database(t)
  const late = { '0001_a.sql': two['0001_a.sql'], '0200_c.sql': 'create table c (n integer)' }
  await migrate(url, [{ schema: 'shop', folder: await folderOf(t, late) }])
  await migrate(url, [{ schema: 'shop', folder: await folderOf(t, { ...late, ...two }) }])
  t.deepEqual((await pool.query('select n from shop.a')).rows, [{ n: 1 }])
})

test('a file that is not named like a migration is refused by name', async t => {
  const { url } = await database(t)
  const folder = await folderOf(t, { '1_a.sql': 'select 1' })
  await t.throwsAsync(migrate(url, [{ schema: 'shop', folder }]), { message: /1_a\.sql/ })
})
