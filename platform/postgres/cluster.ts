import { spawn } from 'node:child_process'
import { chown, mkdir, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { CannotStart } from '../cannot-start.ts'
import { freePort } from '../free-port.ts'
import { type Binaries, canEnter, type ServerUser } from './binaries.ts'
import {
  findPostmaster,
  isPostmasterNow,
  isPostmasterOf,
  markPidFileStale,
  readPidFile,
} from './postmaster.ts'

export type Place = {
  /** PostgreSQL's data directory, mode 0700, owned by the server's user. */
  cluster: string
  /** The server's output: a file and not a pipe, because the server may outlive this process. */
  logFile: string
  password: string
  binaries: Binaries
  user: ServerUser
}

export type Running = {
  pid: number
  port: number
  /** Whether this process started it, rather than finding it running. */
  isOurs: boolean
}

/** Sized for two cores and a few gigabytes; nothing acknowledged is lost in a crash or a power cut. */
const durableSettings: Record<string, string> = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '100',
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  shared_buffers: '128MB',
  wal_compression: 'on',
  wal_buffers: '16MB',
  // Filling each new segment with zeros held up every commit for 20 to 50 ms.
  wal_init_zero: 'off',
  min_wal_size: '256MB',
  max_wal_size: '2GB',
  checkpoint_timeout: '15min',
  log_checkpoints: 'off',
  log_line_prefix: '%m [%p] ',
  timezone: 'UTC',
}

/** Recovery after a crash replays up to `max_wal_size` of log before the server is ready. */
export const readyWithinMs = 300_000
const stopWithinMs = 60_000
const lookEveryMs = 10
const startAttempts = 20
const logFileLimitBytes = 10 * 1024 * 1024

/** Creates the cluster once. It gets its name only when complete, so that a crash half-way leaves none. */
export async function initCluster(place: Place): Promise<void> {
  if (await exists(place.cluster)) return
  const draft = `${place.cluster}.new`
  const passwordFile = `${place.cluster}.password`
  await rm(draft, { recursive: true, force: true })
  await writeFile(passwordFile, place.password, { mode: 0o600 })
  try {
    if (place.user) await chown(passwordFile, place.user.uid, place.user.gid)
    await makeFolder(draft, place.user)
    const said = await runToEnd(place, draft, [
      `--pgdata=${await reachablePath(place, draft)}`,
      `--pwfile=../${basename(passwordFile)}`,
      '--username=forge',
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      // The same order of text on every machine.
      '--locale=C',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
    ])
    if (said !== null) throw new Error(`PostgreSQL could not create its data directory: ${said}`)
    await rename(draft, place.cluster)
  } finally {
    await rm(passwordFile, { force: true })
  }
}

/**
 * Returns the server of this cluster: the one still running, or a new one. A new one uses `port`, or without it the
 * port it had last, so that noted addresses stay valid, or a free one if that is taken.
 */
export async function runServer(
  place: Place,
  settings: Record<string, string>,
  port: number | null,
): Promise<Running> {
  const deadline = Date.now() + readyWithinMs
  let chosen = port ?? (await lastPort(place)) ?? (await freePort())
  for (let attempt = 1; ; attempt++) {
    const running = await adopt(place, deadline)
    if (running) return running
    try {
      return await startServer(place, { ...durableSettings, ...settings }, chosen, deadline)
    } catch (error) {
      if (!isPassing(error) || attempt === startAttempts) throw error
      await new Promise(done => setTimeout(done, attempt * lookEveryMs))
      chosen = port ?? (await freePort())
    }
  }
}

/** The server that an earlier process left running; null if a new one can be started. */
async function adopt(place: Place, deadline: number): Promise<Running | null> {
  const found = await findPostmaster(place.cluster)
  if (found) {
    const port = await untilReady(place, found.pid, () => null, deadline)
    return { pid: found.pid, port, isOurs: false }
  }
  if (await readPidFile(place.cluster)) await markPidFileStale(place.cluster)
  return null
}

/** The port in the options that PostgreSQL records at each start. */
async function lastPort({ cluster }: Place): Promise<number | null> {
  const options = await readFile(join(cluster, 'postmaster.opts'), 'utf8').catch(() => '')
  return Number(/"port=(\d+)"/.exec(options)?.[1]) || null
}

/**
 * Waits for a clean shutdown; after a minute it forces the server to stop at once and to recover at its next start.
 */
export async function stopServer(place: Place, { pid }: Running): Promise<void> {
  const isGone = async () => !(await isPostmasterOf(pid, place.cluster))
  for (const [signal, patienceMs] of [
    ['SIGINT', stopWithinMs],
    ['SIGQUIT', 5_000],
    ['SIGKILL', 5_000],
  ] as const) {
    if (await isGone()) return
    process.kill(pid, signal)
    const deadline = Date.now() + patienceMs
    while (Date.now() < deadline) {
      if (await isGone()) return
      await new Promise(done => setTimeout(done, lookEveryMs))
    }
  }
}

/** PostgreSQL's quick shutdown, without waiting for it: for the exit of this process. */
export function interruptServer({ cluster }: Place, { pid }: Running): void {
  if (isPostmasterNow(pid, cluster)) process.kill(pid, 'SIGINT')
}

/**
 * Calls `end` if this process exits, however it exits (nothing helps against SIGKILL); returns a function that
 * cancels this.
 */
export function endedByExit(end: () => void): () => void {
  process.on('exit', end)
  return () => process.off('exit', end)
}

async function startServer(
  place: Place,
  settings: Record<string, string>,
  port: number,
  deadline: number,
): Promise<Running> {
  const flags = Object.entries({ ...settings, port: String(port) }).flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`,
  ])
  const args = ['-D', await reachablePath(place, place.cluster), ...flags]
  const log = await openLog(place.logFile)
  const from = (await log.stat()).size
  let release = () => {}
  try {
    const child = spawn(place.binaries.postgres, args, {
      ...place.user,
      cwd: place.cluster,
      env: plainEnvironment(),
      detached: true,
      stdio: ['ignore', log.fd, log.fd],
    })
    child.unref()
    release = endedByExit(() => child.kill('SIGINT'))
    let ended: string | null = null
    child.on('error', error => {
      ended = error.message
    })
    child.on('exit', (code, signal) => {
      ended ??= `it ended with ${signal ?? code}`
    })
    const port = await untilReady(place, child.pid ?? 0, () => ended, deadline)
    return { pid: child.pid ?? 0, port, isOurs: true }
  } catch (cause) {
    throw new NotStarted(await tailOf(place.logFile, from), { cause })
  } finally {
    release()
    await log.close()
  }
}

/** Resolves with the port. */
async function untilReady(
  place: Place,
  pid: number,
  ended: () => string | null,
  deadline: number,
): Promise<number> {
  for (;;) {
    const file = await readPidFile(place.cluster)
    if (file?.pid === pid && file.ready) return file.port
    const why = ended()
    if (why !== null) throw new Error(`PostgreSQL did not start: ${why}`)
    if (Date.now() > deadline) throw new Error('PostgreSQL did not become ready in five minutes')
    await new Promise(done => setTimeout(done, lookEveryMs))
  }
}

class NotStarted extends Error {
  constructor(said: string, options: ErrorOptions) {
    super(`PostgreSQL did not start. Its output: ${said}`, options)
  }
}

/** A retry may help: the port was taken in between, or backends of a killed server have not ended yet. */
const isPassing = (error: unknown): boolean =>
  error instanceof NotStarted &&
  /could not bind|could not create any TCP|shared memory block|lock file/.test(error.message)

/**
 * The path by which PostgreSQL, started in `folder`, refers to it. Its user may be barred from a folder further up,
 * e.g. root's home with mode 0700, which is not ours to open; the link to a process's own working directory avoids
 * that folder.
 */
async function reachablePath({ user }: Place, folder: string): Promise<string> {
  if (user === null || (await canEnter(user, folder))) return folder
  if (process.platform === 'linux') return '/proc/self/cwd'
  throw new CannotStart(
    `The user "postgres" cannot enter a folder above ${folder}; give those folders mode o+x, or set SERVICE_DATA_DIR elsewhere.`,
  )
}

async function runToEnd(place: Place, cwd: string, args: string[]): Promise<string | null> {
  const child = spawn(place.binaries.initdb, args, {
    ...place.user,
    cwd,
    env: plainEnvironment(),
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const release = endedByExit(() => child.kill('SIGINT'))
  let said = ''
  child.stderr.setEncoding('utf8').on('data', text => {
    said += text
  })
  try {
    return await new Promise((resolve, reject) => {
      child.on('error', reject)
      child.on('close', code => resolve(code === 0 ? null : said.trim()))
    })
  } finally {
    release()
  }
}

/** Without the rest of our environment, because `PG…` variables would change what the server does. */
const plainEnvironment = () => ({ PATH: process.env.PATH ?? '/usr/bin:/bin', LC_ALL: 'C' })

async function makeFolder(path: string, user: ServerUser): Promise<void> {
  await mkdir(path, { mode: 0o700 })
  if (user) await chown(path, user.uid, user.gid)
}

async function openLog(path: string) {
  const size = await stat(path).then(
    found => found.size,
    () => 0,
  )
  if (size > logFileLimitBytes) await rename(path, `${path}.1`)
  return await open(path, 'a', 0o600)
}

async function tailOf(path: string, from: number): Promise<string> {
  const file = await open(path)
  try {
    const { size } = await file.stat()
    const { buffer, bytesRead } = await file.read({
      buffer: Buffer.alloc(Math.min(4096, size - from)),
      position: Math.max(from, size - 4096),
    })
    return buffer.subarray(0, bytesRead).toString('utf8').trim() || 'nothing'
  } finally {
    await file.close()
  }
}

async function exists(path: string): Promise<boolean> {
  return await stat(path).then(
    () => true,
    () => false,
  )
}
