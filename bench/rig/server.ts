import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type ServerOptions,
  type ServerProcess,
  serverProcess,
} from '../../test/servers/server-process.ts'

export type Server = ServerProcess & {
  /** Deletes the data directory, which otherwise stays even after `stop`. */
  remove(): Promise<void>
}

export type StartOptions = Omit<ServerOptions, 'folder'> & {
  /** Where its folder is created; by default the folder for temporary files. */
  inside?: string
}

/** Starts `main.ts` with the embedded PostgreSQL in a new temporary folder, with default durability. */
export async function startServer({
  inside = tmpdir(),
  ...options
}: StartOptions = {}): Promise<Server> {
  const folder = await mkdtemp(join(inside, 'forge-bench-'))
  const server = await serverProcess({ ...options, folder })
  try {
    await server.start()
  } catch (error) {
    await server.stop()
    throw error
  }
  return { ...server, remove: () => rm(folder, { recursive: true, force: true }) }
}
