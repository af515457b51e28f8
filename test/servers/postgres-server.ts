import { join } from 'node:path'
import { createLogger } from '../../platform/logger.ts'
import { startEmbeddedPostgres } from '../../platform/postgres/embedded.ts'
import type { Hosted } from './hosted.ts'

/** A cluster for one test run. Nothing in it has to survive a power cut, so nothing waits for the disk. */
export async function startPostgres(folder: string): Promise<Hosted> {
  const server = await startEmbeddedPostgres({
    directory: join(folder, 'server'),
    logger: createLogger('silent', false),
    settings: {
      fsync: 'off',
      synchronous_commit: 'off',
      full_page_writes: 'off',
      max_connections: '300',
    },
  })
  return { address: server.url, stop: server.stop }
}
