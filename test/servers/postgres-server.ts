import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Client } from 'pg'
import { createLogger } from '../../platform/logger.ts'
import { startEmbeddedPostgres } from '../../platform/postgres/embedded.ts'
import type { Hosted } from './hosted.ts'

/** A cluster for one test run. Nothing in it has to survive a power cut, so nothing waits for the disk. */
export async function startPostgres(folder: string): Promise<Hosted> {
  const directory = join(folder, 'server')
  const server = await startEmbeddedPostgres({
    directory,
    logger: createLogger('silent', false),
    settings: {
      fsync: 'off',
      synchronous_commit: 'off',
      full_page_writes: 'off',
      max_connections: '300',
      max_wal_size: '8GB',
    },
  })
  await trustAll(directory, server.url)
  return { address: server.url, stop: server.stop }
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
