import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import test from 'ava'
import { LogUnavailable } from '../../../platform/log/event-log.ts'
import { openPostgresLog } from '../../../platform/log/postgres.ts'
import { createLogger } from '../../../platform/logger.ts'
import { startEmbeddedPostgres } from '../../../platform/postgres/embedded.ts'
import { migrate } from '../../../platform/postgres/migrate.ts'
import { database } from '../../servers/postgres.ts'
import { until, untilSettled } from '../../servers/until.ts'
import { record, take, topicsOfTest } from './contract.ts'
import { appendAndKillOne, checkLog, startAppending } from './ledger.ts'

const migrations = {
  schema: 'log',
  folder: fileURLToPath(new URL('../../../platform/log/migrations', import.meta.url)),
}

test('two processes append to the same partitions and one is killed: nothing lost, nothing twice', async t => {
  const { url } = await database(t)
  const { facts } = topicsOfTest()
  const processes = await appendAndKillOne(t, { topic: facts, at: { url } })
  const log = await openPostgresLog({ url, topics: [facts] })
  t.teardown(log.close)
  await checkLog(t, log, facts.name, processes)
})

test('the database server is killed: acknowledged records are present when it is back', async t => {
  const directory = await mkdtemp(join(tmpdir(), 'forge-test-crash-'))
  const server = await startEmbeddedPostgres({ directory, logger: createLogger('silent', false) })
  t.teardown(async () => {
    await server.stop()
    await rm(directory, { recursive: true, force: true })
  })
  await migrate(server.url, [migrations])
  const { facts } = topicsOfTest()
  const log = await openPostgresLog({ url: server.url, topics: [facts] })
  t.teardown(log.close)
  const appending = startAppending(t, { name: 'one', topic: facts, at: { url: server.url } })
  for (let kill = 0; kill < 3; kill++) {
    await appending.ackedMore(300, 30_000)
    const killed = await postmasterOf(directory)
    if (killed) process.kill(killed, 'SIGKILL')
    await until('another server answers', 30_000, async () => {
      const pid = await postmasterOf(directory)
      return pid !== null && pid !== killed && (await log.end(facts.name).catch(() => null))
    })
    await appending.ackedMore(1, 2_000)
  }
  await appending.finish()
  await checkLog(t, log, facts.name, [appending])
})

test('while the database is down an append fails in time, and a reader waits and continues', async t => {
  const directory = await mkdtemp(join(tmpdir(), 'forge-test-away-'))
  const options = { directory, logger: createLogger('silent', false) }
  const before = await startEmbeddedPostgres(options)
  t.teardown(() => rm(directory, { recursive: true, force: true }))
  await migrate(before.url, [migrations])
  const { single } = topicsOfTest()
  const log = await openPostgresLog({ url: before.url, topics: [single] })
  const waiting = take(log, single.name, 0, 0n, 1)
  await before.stop()
  // Connecting and each response time out after 4.5 s.
  const lost = log.append(single.name, [record('k', 'lost')])
  await t.throwsAsync(untilSettled('the append is given up', 30_000, lost), {
    instanceOf: LogUnavailable,
  })

  const after = await startEmbeddedPostgres(options)
  t.is(after.url, before.url)
  await until('an append is accepted', 2_000, () =>
    log.append(single.name, [record('k', 'kept')]).catch(() => null),
  )
  t.is((await waiting)[0]?.value.toString(), 'kept')
  await log.close()
  await after.stop()
})

async function postmasterOf(directory: string): Promise<number | null> {
  const pidFile = await readFile(join(directory, 'cluster', 'postmaster.pid'), 'utf8').catch(
    () => '',
  )
  return Number(pidFile.split('\n')[0]) || null
}
