import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { createSchema } from '../../../platform/postgres/migration.ts'
import { inTransaction } from '../../../platform/postgres/transaction.ts'
import { mayStayIdle, untilLockWaits } from '../../servers/lock-waits.ts'
import { databaseFrom } from '../../servers/postgres.ts'
import { serverProcess } from '../../servers/server-process.ts'

const root = join(import.meta.dirname, '../../..')

test('a server that migrates says to which version, and how far it is, in its responses and its log', async t => {
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  const { url: databaseUrl, pool } = await databaseFrom(t, 'template1')
  const folder = await mkdtemp(join(tmpdir(), 'forge-test-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const env = { SERVICE_DATABASE_URL: databaseUrl, SERVICE_LOG_LEVEL: 'info' }
  const server = await serverProcess({ folder, env })
  t.teardown(() => server.stop())
  await inTransaction(pool, tx => createSchema(tx, 'write'))
  const started = await inTransaction(pool, async tx => {
    await mayStayIdle(tx)
    await tx.query('lock table write.migration in share mode')
    const starting = server.start()
    await untilLockWaits(pool, 'a migration is about to end', ({ relation }) => relation !== null)
    const response = await fetch(`${server.url}/api/readyz`)
    t.is(response.status, 503)
    const { detail } = (await response.json()) as { detail: string }
    const [, told, nth, total] =
      /migrates the database to version (\S+) \((\d+) of (\d+): write 0680_events\); try again$/.exec(
        detail,
      ) ?? []
    t.is(told, version, detail)
    t.true(Number(nth) > 1 && Number(nth) < Number(total), detail)
    const step = { version, nth: Number(nth), total: Number(total), schema: 'write' }
    const lines = server.output().trim().split('\n')
    t.like(JSON.parse(lines.at(-1) ?? ''), { ...step, msg: 'migrating the database' })
    return { starting }
  })
  await started.starting
  t.is((await fetch(`${server.url}/api/readyz`)).status, 200)
})
