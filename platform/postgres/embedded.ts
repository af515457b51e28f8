import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { ClientBase, Pool } from 'pg'
import type { Logger } from 'pino'
import { CannotStart } from '../cannot-start.ts'
import { DamagedFile } from '../damaged-file.ts'
import { pause, untilAborted } from '../pause.ts'
import { repeat } from '../repeat.ts'
import { findBinaries, findServerUser } from './binaries.ts'
import {
  endedByExit,
  initCluster,
  interruptServer,
  type Place,
  type Running,
  readyWithinMs,
  runServer,
  stopServer,
} from './cluster.ts'
import { locks } from './locks.ts'
import { createPool } from './pool.ts'
import { findPostmaster } from './postmaster.ts'
import { LockTaken, withLock } from './with-lock.ts'

export type EmbeddedPostgres = {
  /** Address of the database `forge`, password included; stays the same until `stop`. */
  url: string
  /** Stops the server cleanly, even one started by an earlier process. May be called twice. */
  stop(): Promise<void>
}

export type EmbeddedOptions = {
  /** Holds everything of this server; created if missing. */
  directory: string
  logger: Logger
  /** PostgreSQL settings that override those of `cluster.ts`. */
  settings?: Record<string, string>
}

/** A killed owner keeps its lock until the server notices that the connection is closed. */
const ownerPatienceMs = 5_000
/** Pauses after failed starts, in milliseconds. */
const reviveEveryMs = { first: 250, most: 5_000 }

/**
 * Starts PostgreSQL in `directory`, or takes over the server that a killed process left running there. If it dies
 * while in use it is started again on the same port. It has its own process group, so that Ctrl-C in a terminal does
 * not end it before its clients; but it ends with this process, unless that is killed.
 */
export async function startEmbeddedPostgres(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const directory = resolve(options.directory)
  const place = await prepare(directory)
  let server = await runServer(place, options.settings ?? {}, null)
  // A server that was found running may belong to another process until we own it.
  let endsWithUs = server.isOurs
  const release = endedByExit(() => endsWithUs && interruptServer(place, server))
  const url = urlOf(place, server, 'forge')
  const opened = Promise.withResolvers<void>()
  let isOpen = false
  let isDown = false
  const up = () => {
    if (isDown) options.logger.info('the embedded PostgreSQL is back')
    isDown = false
    isOpen = true
    endsWithUs = true
    opened.resolve()
  }
  const serve = async (signal: AbortSignal) => {
    if (isDown) server = await runServer(place, options.settings ?? {}, server.port)
    endsWithUs = server.isOurs
    await own(urlOf(place, server, 'postgres'), signal, up).catch(error => {
      if (error.code !== wrongPassword) throw error
      throw new DamagedFile(passwordFile(directory), place.password, restorePassword)
    })
    return 0
  }
  const serving = repeat(serve, {
    retryMs: reviveEveryMs,
    failed(error) {
      isDown = true
      // Another process may own it by now, even if we have started it.
      if (error instanceof CannotStart && !(error instanceof DamagedFile)) endsWithUs = false
      if (isOpen)
        options.logger.error(
          { err: error },
          'the embedded PostgreSQL has stopped, starting it again',
        )
      opened.reject(error)
    },
  })
  const stop = async () => {
    await serving.stop()
    if (endsWithUs) await stopServer(place, server)
    release()
  }
  await opened.promise.catch(async error => {
    await stop()
    throw error
  })
  let stopping: Promise<void> | null = null
  return {
    url,
    stop() {
      stopping ??= stop()
      return stopping
    },
  }
}

/**
 * The address of the server running in `directory`, no matter which process started it; null if none runs. Throws
 * `CannotStart` if the directory holds no cluster.
 */
export async function findEmbeddedPostgres(directory: string): Promise<string | null> {
  const cluster = join(resolve(directory), 'cluster')
  if (!existsSync(cluster))
    throw new CannotStart(
      `There is no database in ${resolve(directory)}; go to the folder from which the server is started, or set SERVICE_DATA_DIR as for the server.`,
    )
  const running = await findPostmaster(cluster)
  if (!running) return null
  return urlOf({ password: await passwordIn(directory) }, running, 'forge')
}

const urlOf = (place: Pick<Place, 'password'>, server: Pick<Running, 'port'>, database: string) =>
  `postgres://forge:${place.password}@127.0.0.1:${server.port}/${database}`

async function prepare(directory: string): Promise<Place> {
  const user = await findServerUser()
  const binaries = await findBinaries(user)
  // The server's user may enter but not list it; the cluster inside is closed to all others.
  const mode = user ? 0o711 : 0o700
  await mkdir(directory, { recursive: true, mode })
  await chmod(directory, mode)
  const place = {
    cluster: join(directory, 'cluster'),
    logFile: join(directory, 'postgres.log'),
    password: await passwordIn(directory),
    binaries,
    user,
  }
  await initCluster(place)
  return place
}

/** SQLSTATE invalid_password. */
const wrongPassword = '28P01'
const passwordFile = (directory: string) => join(directory, 'password')
const restorePassword =
  'it holds the password of the database beside it; restore it from a backup of the data directory.'

async function passwordIn(directory: string): Promise<string> {
  const path = passwordFile(directory)
  const kept = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  if (kept?.trim() === '') throw new DamagedFile(path, kept, restorePassword)
  if (kept !== null) return kept.trim()
  const password = randomBytes(24).toString('base64url')
  await rm(`${path}.new`, { force: true })
  await writeFile(`${path}.new`, `${password}\n`, { mode: 0o600, flush: true })
  await rename(`${path}.new`, path)
  return password
}

/**
 * SQLSTATE cannot_connect_now (it recovers from the crash of one of its processes, or shuts down), crash_shutdown, and disk_full: a
 * new connection writes a file. A server that is gone refuses the connection instead of cutting it.
 */
const isPassing = ({ code, message }: Error & { code?: string }): boolean =>
  code === undefined
    ? message === 'Connection terminated unexpectedly'
    : ['57P03', '57P02', '53100', 'ECONNRESET'].includes(code)
const askEveryMs = 100

/**
 * Resolves once the server accepts connections. After the crash of one of its processes it recovers automatically, which
 * takes as long as at a start, and its pid file still calls it ready. Giving up would only restart everything else, which slows the recovery.
 */
async function untilAccepting(pool: Pool, signal: AbortSignal): Promise<void> {
  const deadline = Date.now() + readyWithinMs
  while (!signal.aborted)
    try {
      ;(await pool.connect()).release()
      return
    } catch (error) {
      if (!isPassing(error as Error) || Date.now() > deadline) throw error
      await pause(askEveryMs, signal)
    }
}

/** Keeps other processes from using this server until `signal` aborts; throws if the server stops before. */
async function own(url: string, signal: AbortSignal, owned: () => void): Promise<void> {
  const pool = createPool(url, { max: 1, applicationName: 'forge owner' })
  try {
    await untilAccepting(pool, signal)
    if (signal.aborted) return
    const lock = { lock: locks.owner, waitMs: ownerPatienceMs }
    await withLock(pool, lock, async (client, lost) => {
      await createDatabase(client)
      owned()
      await untilAborted(AbortSignal.any([signal, lost]))
    })
  } catch (error) {
    if (!(error instanceof LockTaken)) throw error
    throw new CannotStart(
      'Another Forge server is running on this data directory; stop it, or set SERVICE_DATA_DIR to another folder.',
      error,
    )
  } finally {
    await pool.end()
  }
}

async function createDatabase(client: ClientBase): Promise<void> {
  const { rowCount } = await client.query(`select 1 from pg_database where datname = 'forge'`)
  if (rowCount === 0) await client.query('create database forge')
}
