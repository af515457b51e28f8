import { randomBytes } from 'node:crypto'
import { chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { Client } from 'pg'
import type { Logger } from 'pino'
import { findBinaries, findServerUser } from './binaries.ts'
import { initCluster, type Place, type Running, runServer, stopServer } from './cluster.ts'

export type EmbeddedPostgres = {
  /** Address of the database `forge`, password included; stays the same until `stop`. */
  url: string
  /** Ends the server cleanly, an adopted one too. May be called twice. */
  stop(): Promise<void>
}

export type EmbeddedOptions = {
  /** Everything of this server lives in here; made where missing. */
  directory: string
  logger: Logger
  /** PostgreSQL settings over those of `cluster.ts`. */
  settings?: Record<string, string>
}

/** Held on a connection for as long as this process uses the server: two must not share it. */
const ownerLock = 7_265_000
/** The lock of a killed owner goes as soon as its connection is seen closed. */
const ownerPatienceMs = 5_000
const reviveEveryMs = 250

/**
 * Starts PostgreSQL in `directory`, or takes over the one that a killed process left running there. Should it
 * die while in use it is started again on the same port. It has a process group of its own, so that Ctrl-C
 * in a terminal does not end it before those who use it.
 */
export async function startEmbeddedPostgres(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const place = await prepare(resolve(options.directory))
  let server = await runServer(place, options.settings ?? {}, null)
  const url = urlOf(place, server, 'forge')
  const stopping = new AbortController()
  let reviving: Promise<void> = Promise.resolve()

  const lost = () => {
    if (stopping.signal.aborted) return
    options.logger.error('the embedded PostgreSQL went away, starting it again')
    reviving = revive()
  }
  const revive = async () => {
    while (!stopping.signal.aborted) {
      try {
        server = await runServer(place, options.settings ?? {}, server.port)
        keeper = await keep(urlOf(place, server, 'postgres'), lost)
        options.logger.info('the embedded PostgreSQL is back')
        return
      } catch (error) {
        options.logger.error({ err: error }, 'the embedded PostgreSQL does not start')
        await new Promise(done => setTimeout(done, reviveEveryMs))
      }
    }
  }

  let keeper = await keep(urlOf(place, server, 'postgres'), lost)
  await createDatabase(keeper)
  return {
    url,
    async stop() {
      if (stopping.signal.aborted) return
      stopping.abort()
      await reviving
      await keeper.end()
      await stopServer(place, server)
    },
  }
}

const urlOf = (place: Place, server: Running, database: string) =>
  `postgres://forge:${place.password}@127.0.0.1:${server.port}/${database}`

async function prepare(directory: string): Promise<Place> {
  const [binaries, user] = await Promise.all([findBinaries(), findServerUser()])
  // Searchable but not listable for the server's user; the cluster inside is closed to all others.
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

async function passwordIn(directory: string): Promise<string> {
  const path = join(directory, 'password')
  try {
    return (await readFile(path, 'utf8')).trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  const password = randomBytes(24).toString('base64url')
  await rm(`${path}.new`, { force: true })
  await writeFile(`${path}.new`, `${password}\n`, { mode: 0o600, flush: true })
  await rename(`${path}.new`, path)
  return password
}

/** Holds the owner's lock and notices when the server dies. */
async function keep(url: string, lost: () => void): Promise<Client> {
  const client = new Client({ connectionString: url, application_name: 'forge keeper' })
  // Without a listener a lost connection would end the process; `end` follows and says it all.
  client.on('error', () => {})
  await client.connect()
  const deadline = Date.now() + ownerPatienceMs
  for (;;) {
    const { rows } = await client.query('select pg_try_advisory_lock($1) as held', [ownerLock])
    if (rows[0]?.held) break
    if (Date.now() > deadline) {
      await client.end()
      throw new Error(
        'Another Forge server is running on this data directory; stop it, or set SERVICE_DATA_DIR to another folder.',
      )
    }
    await new Promise(done => setTimeout(done, 50))
  }
  client.on('end', lost)
  return client
}

async function createDatabase(client: Client): Promise<void> {
  const { rowCount } = await client.query(`select 1 from pg_database where datname = 'forge'`)
  if (rowCount === 0) await client.query('create database forge')
}
