import test from 'ava'
import { Client } from 'pg'
import { watchConnections } from '../../../platform/postgres/connections.ts'
import { createPool } from '../../../platform/postgres/pool.ts'
import { startForge } from '../../servers/forge.ts'
import { database } from '../../servers/postgres.ts'

test('a pool that got no connection is not ready until a new one can be opened', async t => {
  const { url, pool: owner } = await database(t)
  const role = `few_${new URL(url).pathname.slice(1).replaceAll(/\W/g, '_')}`.slice(0, 60)
  await owner.query(`create role ${role} login password 'few' connection limit 2`)
  const limited = new URL(url)
  limited.username = role
  limited.password = 'few'
  const pool = createPool(limited.href, { max: 3, applicationName: 'few' })
  const foreign = new Client(limited.href)
  t.teardown(async () => {
    await pool.end()
    await owner.query(`drop role ${role}`)
  })
  const hasConnections = watchConnections(pool)
  await t.notThrowsAsync(hasConnections())

  await foreign.connect()
  const held = await pool.connect()
  await t.throwsAsync(pool.query('select 1'), { code: '53300' })
  held.release()
  await t.notThrowsAsync(pool.query('select 1'), 'its idle connection still works')
  await t.throwsAsync(hasConnections(), { code: '53300' })
  await t.throwsAsync(hasConnections(), { code: '53300' }, 'asking once does not settle it')

  await foreign.end()
  await t.notThrowsAsync(hasConnections())
  await t.notThrowsAsync(hasConnections())
})

test('readyz asks for the connections of reads, too', async t => {
  const forge = await startForge(t)
  const { body } = await forge.call<{ checks: Record<string, { ok: boolean }> }>(
    'GET',
    '/api/readyz',
  )
  t.true(body.checks.postgres?.ok)
  t.true(body.checks.reads?.ok)
})
