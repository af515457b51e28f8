import { join } from 'node:path'
import test from 'ava'
import { findEmbeddedPostgres } from '../../../platform/postgres/embedded.ts'
import { migrate } from '../../../platform/postgres/migrate.ts'
import { createPool } from '../../../platform/postgres/pool.ts'
import { addressAs } from '../../../server/database/address.ts'
import { migrationSets } from '../../../server/database/migrations.ts'
import { prepareRights } from '../../../server/database/rights.ts'
import { startCluster } from '../../servers/dump-tools.ts'
import { emptyFolder, startEmbedded } from '../backup/embedded.ts'

const userOf = async (url: string) => {
  const pool = createPool(url, { max: 1, applicationName: 'test' })
  try {
    return (await pool.query<{ name: string }>('select session_user as name')).rows[0]?.name
  } finally {
    await pool.end()
  }
}

// needs dump

test('a user who may create roles prepares them; otherwise the reason is given, and one user does all work', async t => {
  const { url } = await startCluster(t)
  const administrator = createPool(url, { max: 1, applicationName: 'test' })
  t.teardown(() => administrator.end())
  for (const sql of ['create role plain login', 'create database plain owner plain'])
    await administrator.query(sql)
  const own = new URL(url)
  own.username = 'plain'
  own.pathname = '/plain'
  await migrate(own.href, migrationSets)
  t.like(await prepareRights(own.href), {
    addresses: { commands: own.href, projector: own.href, queries: own.href },
    withoutRoles: "the database's user may not create the role forge_reader",
  })
  await administrator.query('alter role plain createrole')
  for (const _ of ['first', 'repeated']) {
    const { addresses, ...rights } = await prepareRights(own.href)
    t.deepEqual(rights, { reader: 'forge_reader', withoutReader: null, withoutRoles: null })
    t.is(await userOf(addresses.commands), 'forge_commands')
    t.is(await userOf(addresses.queries), 'forge_queries')
  }
  await administrator.query('alter role forge_projector bypassrls')
  t.like(await prepareRights(own.href), {
    addresses: { projector: own.href },
    withoutRoles: 'the role forge_projector has more rights than it needs',
  })
})

test('the roles of the embedded database have passwords, which no other installation changes', async t => {
  const folder = await emptyFolder(t)
  const { server } = await startEmbedded(t, folder)
  const url = (await findEmbeddedPostgres(join(server.dataDir, 'postgres'))) ?? ''
  const administrator = createPool(url, { max: 1, applicationName: 'test' })
  t.teardown(() => administrator.end())
  const { rows } = await administrator.query(
    `select distinct application_name as name from pg_stat_activity
      where datname = current_database() and usename = 'forge' and application_name <> 'test'`,
  )
  t.deepEqual(rows, [], 'the superuser holds the lock of the folder, in another database')
  t.is(await userOf(addressAs(url, 'forge_commands')), 'forge_commands')
  const guessed = new URL(addressAs(url, 'forge_commands'))
  guessed.password = 'guessed'
  await t.throwsAsync(userOf(guessed.href), { code: '28P01' })

  await administrator.query(`create role other superuser login password 'other'`)
  await administrator.query('create database other owner other')
  const other = new URL(url)
  other.username = 'other'
  other.password = 'other'
  other.pathname = '/other'
  await migrate(other.href, migrationSets)
  t.like(await prepareRights(other.href), {
    withoutRoles: 'the role forge_commands exists with another password',
  })
  t.is(await userOf(addressAs(url, 'forge_commands')), 'forge_commands', 'it still can')

  await administrator.query(`alter role forge_commands password 'lost'`)
  await server.stop()
  await server.start()
  const again = (await findEmbeddedPostgres(join(server.dataDir, 'postgres'))) ?? ''
  t.is(await userOf(addressAs(again, 'forge_commands')), 'forge_commands', 'its own are repaired')
})

test('installations on one cluster that start together prepare the roles once', async t => {
  const { url } = await startCluster(t)
  const administrator = createPool(url, { max: 1, applicationName: 'test' })
  t.teardown(() => administrator.end())
  const addresses: string[] = []
  for (const name of ['one', 'two', 'three', 'four']) {
    await administrator.query(`create database ${name}`)
    const own = new URL(url)
    own.pathname = `/${name}`
    await migrate(own.href, migrationSets)
    addresses.push(own.href)
  }
  const prepared = await Promise.all(addresses.map(prepareRights))
  t.deepEqual(
    prepared.map(({ withoutRoles, withoutReader }) => [withoutRoles, withoutReader]),
    addresses.map(() => [null, null]),
  )
})
