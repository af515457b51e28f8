import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { Kafka, logLevel } from 'kafkajs'
import type { Pool } from 'pg'
import { createPool } from '../../../platform/postgres/pool.ts'
import { callApi, signIn } from '../../servers/api.ts'
import { commandLine } from '../../servers/command-line.ts'
import { type Cluster, startCluster } from '../../servers/dump-tools.ts'
import { patient } from '../../servers/patience.ts'
import { addressOf } from '../../servers/rendezvous.ts'
import { serverProcess } from '../../servers/server-process.ts'
import { until } from '../../servers/until.ts'

// needs dump

const body = (title: string) => ({
  name: 'helpful',
  description: title,
  criteria: [{ name: 'clear', description: title, weight: 1 }],
})

/** The tests share a broker, and may start within the same millisecond. */
const newPrefix = () => `t${randomBytes(6).toString('hex')}`

/** A server on this cluster; `folder` holds its keys. */
async function serve(
  t: ExecutionContext,
  { url }: Cluster,
  folder: string,
  env: Record<string, string>,
) {
  const server = await serverProcess({ folder, env: { SERVICE_DATABASE_URL: url, ...env } })
  t.teardown(server.stop)
  await server.start()
  const token = await signIn(server.url)
  const call = (method: string, path: string, given?: object) =>
    callApi(server.url, method, path, { token, ...(given && { body: given }) })
  return {
    stop: server.stop,
    call,
    /** Records a decision and waits until it is projected, which implies that it was published. */
    async decide(title: string) {
      t.is((await call('PUT', '/api/rubrics/admin/helpful', body(title))).status, 200)
      await until(`"${title}" can be read`, 20_000, async () => {
        const { body: read } = await call('GET', '/api/rubrics/admin/helpful')
        return JSON.stringify(read).includes(title)
      })
    },
    async isSound() {
      t.like(await call('GET', '/api/readyz'), { status: 200, body: { status: 'ready' } })
      t.like(await call('GET', '/api/audit/verify'), { body: { ok: true, first_bad: null } })
    },
  }
}

async function begin(t: ExecutionContext) {
  t.timeout(patient(400_000))
  const folder = await mkdtemp(join(tmpdir(), 'forge-test-restore-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const poolOf = ({ url }: Cluster): Pool => {
    const pool = createPool(url, { max: 1, applicationName: 'restore test' })
    t.teardown(() => pool.end())
    return pool
  }
  return { folder, dump: join('/tmp', `${folder.split('/').at(-1)}.dump`), poolOf }
}

/** Simulates years of use. */
const burnTransactions = (pool: Pool) =>
  pool.query(
    `do $$ begin for i in 1..20000 loop perform pg_current_xact_id(); commit; end loop; end $$`,
  )

for (const profile of ['Postgres', 'Kafka'])
  test(`a dump restored into a fresh cluster works, with the log in ${profile}`, async t => {
    const { folder, dump, poolOf } = await begin(t)
    const env: Record<string, string> =
      profile === 'Kafka'
        ? {
            SERVICE_KAFKA_BROKERS: await addressOf('kafka'),
            SERVICE_TOPIC_PREFIX: newPrefix(),
          }
        : {}
    const old = await startCluster(t)
    await burnTransactions(poolOf(old))
    const before = await serve(t, old, folder, env)
    await before.decide('before the restore')
    await old.dump(dump)
    t.teardown(() => rm(dump, { force: true }))
    await before.stop()

    const fresh = await startCluster(t)
    await fresh.restore(dump)
    const { rows } = await poolOf(fresh).query(
      'select max(xid) > pg_current_xact_id() as is_behind from write.event',
    )
    t.deepEqual(rows, [{ is_behind: true }], 'the counter starts again')
    const after = await serve(t, fresh, folder, env)
    await after.decide('after the restore')
    await after.decide('and once more')
    await after.isSound()
    t.deepEqual((await poolOf(fresh).query('select number from write.epoch')).rows, [{ number: 2 }])
  })

test('a database that is older than the log is refused, and works again after following the message', async t => {
  const { folder, dump } = await begin(t)
  const broker = await addressOf('kafka')
  const prefix = newPrefix()
  const env = { SERVICE_KAFKA_BROKERS: broker, SERVICE_TOPIC_PREFIX: prefix }
  const cluster = await startCluster(t)
  const before = await serve(t, cluster, folder, env)
  await before.decide('in the backup')
  await cluster.dump(dump)
  t.teardown(() => rm(dump, { force: true }))
  await before.decide('after the backup')
  await before.stop()
  await cluster.restore(dump)

  const refused = await t.throwsAsync(serve(t, cluster, folder, env))
  t.regex(refused?.message ?? '', /The event log is ahead of the database: \w/)
  t.regex(refused?.message ?? '', /Restore a newer one; or, to give up what it lacks, follow/)

  const admin = new Kafka({ brokers: [broker], logLevel: logLevel.NOTHING }).admin()
  await admin.connect()
  await admin.deleteTopics({ topics: [`${prefix}.decisions`] })
  await admin.disconnect()
  const { run } = await commandLine(t, { ...env, SERVICE_DATABASE_URL: cluster.url })
  const republished = await run(['admin', 'republish'])
  t.is(republished.code, 0, republished.stderr)
  const after = await serve(t, cluster, folder, env)
  const { body: read } = await after.call('GET', '/api/rubrics/admin/helpful')
  t.true(JSON.stringify(read).includes('in the backup'))
  await after.decide('another version in place of the lost one')
  await after.isSound()
})
