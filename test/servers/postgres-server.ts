import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { Client } from 'pg'
import { createLogger } from '../../platform/logger.ts'
import { startEmbeddedPostgres } from '../../platform/postgres/embedded.ts'
import { copiedVariable, type Hosted, type Installation } from './hosted.ts'
import { inMemory, leave } from './in-memory.ts'

const run = promisify(execFile)

/** These clusters need not survive a power cut, so nothing waits for the disk. */
const settings = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  wal_compression: 'off',
  max_connections: '300',
  min_wal_size: '80MB',
  max_wal_size: '512MB',
}

/** A cluster for one test run. */
export async function startPostgres(folder: string): Promise<Hosted> {
  const directory = join(folder, 'server')
  const server = await startEmbeddedPostgres({ directory, logger, settings })
  await trustAll(directory, server.url)
  return { address: server.url, stop: server.stop }
}

const logger = createLogger('silent', false)

/** A cluster of a lane: a copy of the one created with the run's installation or samples. */
export async function startCopy(folder: string): Promise<Hosted> {
  const text = process.env[copiedVariable] ?? ''
  const { postgres }: Pick<Installation, 'postgres'> = JSON.parse(text)
  const place = join(await inMemory(folder), 'postgres')
  const server = await startCopyAt(place, postgres)
  return {
    ...server,
    async stop() {
      await server.stop()
      await leave(dirname(place))
    },
  }
}

/** Starts a copy, in the folder `place`, of the stopped cluster at `postgres`. */
export async function startCopyAt(place: string, postgres: string): Promise<Hosted> {
  await run('cp', ['-a', postgres, place])
  return await startPostgres(place)
}

/** Proving a password takes more processor time than most queries of a test, and a server opens dozens of connections. */
async function trustAll(directory: string, url: string): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query<{ hba_file: string }>('show hba_file')
    const file = rows[0]?.hba_file ?? join(directory, 'cluster', 'pg_hba.conf')
    await writeFile(file, 'host all all 127.0.0.1/32 trust\n')
    await client.query('select pg_reload_conf()')
  } finally {
    await client.end()
  }
}
