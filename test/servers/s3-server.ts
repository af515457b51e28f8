import { join } from 'node:path'
import { startS3 } from '../../deploy/s3/server.ts'
import type { Hosted } from './hosted.ts'

/** A server for one test run; its objects are discarded, so it need not shut down cleanly. */
export async function startS3Proxy(folder: string): Promise<Hosted> {
  const server = await startS3({ folder: join(folder, 's3') })
  return { address: server.address, stop: () => server.stop('SIGKILL') }
}
