import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, readlink, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import pg from 'pg'
import { inTerminal, untilShown } from '../../servers/in-terminal.ts'
import { untilLockWaits } from '../../servers/lock-waits.ts'
import { until } from '../../servers/until.ts'

const root = join(import.meta.dirname, '../../..')
const ctrlC = '\x03'

/** `npm start` in a terminal, with the embedded database. */
async function npmStart(t: ExecutionContext) {
  const dataDir = await mkdtemp(join(tmpdir(), 'forge-ctrl-c-'))
  t.teardown(async () => {
    // Cleans up after a failed test.
    for (const pid of await processesIn(dataDir)) process.kill(pid, 'SIGQUIT')
    await rm(dataDir, { recursive: true, force: true, maxRetries: 5 })
  })
  const env = { SERVICE_DATA_DIR: dataDir, SERVICE_PORT: '0', SERVICE_LOG_LEVEL: 'info' }
  const terminal = inTerminal(t, ['npm', 'start'], { cwd: root, env })
  const cluster = join(dataDir, 'postgres/cluster')
  return { dataDir, cluster, terminal }
}

/** Processes that work in a folder: PostgreSQL's all work in the data directory. */
async function processesIn(folder: string): Promise<number[]> {
  const path = await realpath(folder)
  const pids = (await readdir('/proc')).filter(name => /^\d+$/.test(name))
  const there = await Promise.all(
    pids.map(async pid => (await readlink(`/proc/${pid}/cwd`).catch(() => '')).startsWith(path)),
  )
  return pids.filter((_, index) => there[index]).map(Number)
}

const untilAllEnded = (dataDir: string) =>
  until('the database has ended', 30_000, async () => (await processesIn(dataDir)).length === 0)

test('Ctrl-C at npm start, which npm passes on once more, ends server and database with 0', async t => {
  const { dataDir, terminal } = await npmStart(t)
  await untilShown(terminal, /serves at/)
  const began = performance.now()
  terminal.type(ctrlC)
  t.is(await terminal.ended, 0, terminal.shown())
  await untilAllEnded(dataDir)
  t.log(`${Math.round(performance.now() - began)} ms`)
})

test('Ctrl-C while the database is being created leaves nothing running, and the next start works', async t => {
  const { dataDir, cluster, terminal } = await npmStart(t)
  await until('it is being created', 60_000, () => existsSync(`${cluster}.new/base`))
  terminal.type(ctrlC)
  t.is(await terminal.ended, 0, terminal.shown())
  await untilAllEnded(dataDir)

  const env = { SERVICE_DATA_DIR: dataDir, SERVICE_PORT: '0' }
  const again = inTerminal(t, ['npm', 'start'], { cwd: root, env })
  await untilShown(again, /serves at/)
  again.type(ctrlC)
  t.is(await again.ended, 0, again.shown())
})

test('Ctrl-C during the start, when the database is already running, ends it too', async t => {
  const { dataDir, cluster, terminal } = await npmStart(t)
  await until('it starts', 60_000, () => existsSync(join(cluster, 'postmaster.pid')))
  terminal.type(ctrlC)
  t.is(await terminal.ended, 0, terminal.shown())
  t.notRegex(terminal.shown(), /serves at/)
  await untilAllEnded(dataDir)
})

test('a second Ctrl-C, later than two seconds, waits for nothing, and the database still ends', async t => {
  const { dataDir, cluster, terminal } = await npmStart(t)
  const [, url = ''] = await untilShown(terminal, /serves at (http\S+)/)
  const [holder, watcher] = [await connectTo(cluster), await connectTo(cluster)]
  // They end with the database, and report it.
  for (const client of [holder, watcher]) client.on('error', () => {})
  await holder.query('begin')
  await holder.query('lock table auth.person in access exclusive mode')
  const body = JSON.stringify({ username: 'admin', password: 'x' })
  const headers = { 'content-type': 'application/json' }
  const answer = fetch(`${url}/api/auth/login`, { method: 'POST', headers, body }).catch(() => null)
  // Within its transaction, the holder would see its first snapshot of the sessions forever.
  await untilLockWaits(watcher, 'the sign-in waits for the lock')
  terminal.type(ctrlC)
  await untilShown(terminal, /stopping/)
  const from = performance.now()
  await until('two seconds have passed', 5_000, () => performance.now() - from > 2_300)
  terminal.type(ctrlC)
  // 1 shows that it waited for nothing: once the sign-in has its response, a stop ends with 0.
  t.is(await terminal.ended, 1, terminal.shown())
  // The end of the database may still refuse it before the process is gone.
  const refused = await answer
  t.true(refused === null || refused.status === 503, String(refused?.status))
  await untilAllEnded(dataDir)
})

async function connectTo(cluster: string): Promise<pg.Client> {
  const [, , , port] = (await readFile(join(cluster, 'postmaster.pid'), 'utf8')).split('\n')
  const password = (await readFile(join(cluster, '../password'), 'utf8')).trim()
  const client = new pg.Client({
    host: '127.0.0.1',
    port: Number(port),
    user: 'forge',
    password,
    database: 'forge',
  })
  await client.connect()
  return client
}
