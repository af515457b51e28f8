import test from 'ava'
import { Client } from 'pg'
import { watchConnections } from '../../../platform/postgres/connections.ts'
import { createPool } from '../../../platform/postgres/pool.ts'
import { startForge } from '../../servers/forge.ts'
import { database } from '../../servers/postgres.ts'
import { until } from '../../servers/until.ts'

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

type Ready = { checks: Record<string, { ok: boolean }> }

test('without connections for reads, readyz is 503 like them, and recovers', async t => {
  const { url, pool: owner } = await database(t)
  const name = new URL(url).pathname.slice(1)
  const forge = await startForge(t, { SERVICE_DATABASE_URL: url })
  const readiness = () => forge.call<Ready>('GET', '/api/readyz')
  t.like(await readiness(), { status: 200, body: { checks: { reads: { ok: true } } } })

  // Superusers, such as the owner, are exempt.
  await owner.query(`alter database ${name} connection limit 1`)
  const isOff = async () => {
    await owner.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'forge query'`,
    )
    const { status, body } = await readiness()
    return status === 503 && body.checks.reads?.ok === false
  }
  await until('readyz says that reads get no connection', 30_000, isOff)
  const read = await forge.call('GET', '/api/runs')
  t.is(read.status, 503)
  t.truthy(read.headers.get('retry-after'))

  await owner.query(`alter database ${name} connection limit -1`)
  await until('it is ready again', 30_000, async () => (await readiness()).status === 200)
  t.is((await forge.call('GET', '/api/runs')).status, 200)
})
