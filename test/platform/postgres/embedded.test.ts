import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import test, { type ExecutionContext } from 'ava'
import { CannotStart } from '../../../platform/cannot-start.ts'
import { createLogger } from '../../../platform/logger.ts'
import { startEmbeddedPostgres } from '../../../platform/postgres/embedded.ts'
import { createPool } from '../../../platform/postgres/pool.ts'
import { findPostmaster } from '../../../platform/postgres/postmaster.ts'
import { until } from '../../servers/until.ts'

const logger = createLogger('silent', false)

/** A data directory for this test; at its end the server is stopped and the directory removed. */
async function directoryOf(t: ExecutionContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'forge-test-embedded-'))
  t.teardown(() => rm(directory, { recursive: true, force: true }))
  return directory
}

async function ask(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const pool = createPool(url, { max: 1, applicationName: 'test' })
  try {
    return (await pool.query(sql)).rows
  } finally {
    await pool.end()
  }
}

const pidOf = async (directory: string): Promise<number> =>
  Number((await readFile(join(directory, 'cluster', 'postmaster.pid'), 'utf8')).split('\n')[0])

test('a second start finds the data, quickly, and the directory is closed to others', async t => {
  const directory = await directoryOf(t)
  const first = await startEmbeddedPostgres({ directory, logger })
  await ask(first.url, 'create table kept as select 42 as answer')
  await first.stop()
  const second = await startEmbeddedPostgres({ directory, logger })
  t.teardown(second.stop)
  t.is(second.url, first.url)
  t.deepEqual(await ask(second.url, 'select answer from kept'), [{ answer: 42 }])
  t.is((await stat(join(directory, 'password'))).mode & 0o777, 0o600)
  t.is((await stat(join(directory, 'cluster'))).mode & 0o777, 0o700)
})

test('a damaged password file is named with what to do, and nothing is left running', async t => {
  const directory = await directoryOf(t)
  const whole = await startEmbeddedPostgres({ directory, logger })
  await whole.stop()
  const path = join(directory, 'password')
  const password = await readFile(path, 'utf8')
  for (const [text, fault] of [
    [password.slice(0, 12), 'cut off or changed'],
    ['', 'empty'],
  ] as const) {
    await writeFile(path, text)
    await t.throwsAsync(startEmbeddedPostgres({ directory, logger }), {
      instanceOf: CannotStart,
      message: `${path} is damaged (${fault}): it holds the password of the database beside it; restore it from a backup of the data directory.`,
    })
    t.is(await findPostmaster(join(directory, 'cluster')), null)
  }
  await writeFile(path, password)
  const again = await startEmbeddedPostgres({ directory, logger })
  t.teardown(again.stop)
  t.deepEqual(await ask(again.url, 'select 1 as n'), [{ n: 1 }])
})

test('it syncs each commit to disk, listens only on 127.0.0.1 and requires the password', async t => {
  const server = await startEmbeddedPostgres({ directory: await directoryOf(t), logger })
  t.teardown(server.stop)
  const settings = await ask(
    server.url,
    `select name, setting from pg_settings where name in
       ('fsync', 'synchronous_commit', 'full_page_writes', 'listen_addresses', 'unix_socket_directories')
      order by name`,
  )
  t.deepEqual(
    settings.map(({ setting }) => setting),
    ['on', 'on', '127.0.0.1', 'on', ''],
  )
  const guess = new URL(server.url)
  guess.password = 'guess'
  await t.throwsAsync(ask(guess.toString(), 'select 1'), { code: '28P01' })
})

test('a server that a killed process left running is taken over and can be stopped', async t => {
  const directory = await directoryOf(t)
  const { child, url } = await startInProcess(t, directory)
  await ask(url, 'create table kept as select 42 as answer')
  const pid = await pidOf(directory)
  child.kill('SIGKILL')
  const server = await startEmbeddedPostgres({ directory, logger })
  t.is(await pidOf(directory), pid)
  t.deepEqual(await ask(server.url, 'select answer from kept'), [{ answer: 42 }])
  await server.stop()
  await t.throwsAsync(ask(url, 'select 1'), { code: 'ECONNREFUSED' })
})

test('a server that a killed process left in the middle of a recovery is waited for', async t => {
  const directory = await directoryOf(t)
  const { child, url } = await startInProcess(t, directory)
  await ask(url, 'create table kept as select 42 as answer')
  const pid = await pidOf(directory)
  const pool = createPool(url, { max: 2, applicationName: 'test' })
  pool.on('error', () => {})
  const [suspended, killed] = await Promise.all([pool.connect(), pool.connect()])
  for (const client of [suspended, killed]) client.on('error', () => {})
  const backendOf = async (client: typeof killed): Promise<number> =>
    (await client.query('select pg_backend_pid() as pid')).rows[0].pid
  const [still, dead] = [await backendOf(suspended), await backendOf(killed)]
  child.kill('SIGKILL')
  // Recovery begins when all other backends have ended; PostgreSQL waits five seconds for one that does not.
  process.kill(still, 'SIGSTOP')
  process.kill(dead, 'SIGKILL')
  await until('it recovers', 10_000, () =>
    ask(url, 'select 1').then(
      () => false,
      ({ code }) => code === '57P03',
    ),
  )
  const server = await startEmbeddedPostgres({ directory, logger })
  t.teardown(server.stop)
  t.is(await pidOf(directory), pid)
  t.deepEqual(await ask(server.url, 'select answer from kept'), [{ answer: 42 }])
  suspended.release(true)
  killed.release(true)
  await pool.end()
})

test('a directory in use by a living process is refused', async t => {
  const directory = await directoryOf(t)
  const { url } = await startInProcess(t, directory)
  await t.throwsAsync(startEmbeddedPostgres({ directory, logger }), {
    message: /Another Forge server/,
  })
  t.deepEqual(await ask(url, 'select 1 as one'), [{ one: 1 }])
})

test('a pid file with the pid of another program does not prevent a start', async t => {
  const directory = await directoryOf(t)
  const first = await startEmbeddedPostgres({ directory, logger })
  await first.stop()
  const other = spawn('sleep', ['60'])
  t.teardown(() => other.kill())
  const file = join(directory, 'cluster', 'postmaster.pid')
  await writeFile(
    file,
    `${other.pid}\n${directory}/cluster\n1\n5432\n\n127.0.0.1\n  1 2\nready   \n`,
  )
  const second = await startEmbeddedPostgres({ directory, logger })
  t.teardown(second.stop)
  t.not(await pidOf(directory), other.pid)
  t.true(other.exitCode === null && !other.killed)
})

test('a server that dies in use is restarted at the same address with all committed data', async t => {
  const directory = await directoryOf(t)
  const server = await startEmbeddedPostgres({ directory, logger })
  t.teardown(server.stop)
  await ask(server.url, 'create table kept as select 42 as answer')
  process.kill(await pidOf(directory), 'SIGKILL')
  const rows = await until('it responds again', 30_000, () =>
    ask(server.url, 'select answer from kept').catch(() => null),
  )
  t.deepEqual(rows, [{ answer: 42 }])
})

test('a half-finished first start is repeated', async t => {
  const directory = await directoryOf(t)
  const first = await startEmbeddedPostgres({ directory, logger })
  await first.stop()
  // As after a kill during initdb: the draft exists, the cluster does not.
  await rm(join(directory, 'cluster'), { recursive: true })
  await writeFile(join(directory, 'cluster.new'), 'half')
  const second = await startEmbeddedPostgres({ directory, logger })
  t.teardown(second.stop)
  t.deepEqual(await ask(second.url, 'select 1 as one'), [{ one: 1 }])
})

/** Starts the server from a separate process, which prints the address and then waits. */
async function startInProcess(t: ExecutionContext, directory: string) {
  const script = fileURLToPath(new URL('embedding-process.ts', import.meta.url))
  const child: ChildProcess = spawn(process.execPath, [script, directory], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  t.teardown(async () => {
    child.stdin?.end()
    if (child.exitCode === null && child.signalCode === null)
      await new Promise(resolve => child.once('exit', resolve))
  })
  let said = ''
  child.stdout?.setEncoding('utf8').on('data', text => {
    said += text
  })
  const url = await until(
    'the process has started the server',
    30_000,
    () => /^(\S+)\n/.exec(said)?.[1],
  )
  return { child, url }
}
