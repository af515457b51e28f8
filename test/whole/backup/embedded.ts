import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'
import { type CallOptions, callApi, signIn } from '../../servers/api.ts'
import { commandLine, type Ended } from '../../servers/command-line.ts'
import { endAttempts } from '../../servers/end-attempts.ts'
import { type ServerProcess, serverProcess } from '../../servers/server-process.ts'

export type Embedded = {
  server: ServerProcess
  call<T = Record<string, unknown>>(
    method: string,
    path: string,
    options?: CallOptions,
  ): ReturnType<typeof callApi<T>>
  /** Runs `forge admin …` as on the host of this server. */
  admin(...args: string[]): Promise<Ended>
}

export async function emptyFolder(t: ExecutionContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'forge-backup-'))
  t.teardown(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }))
  return folder
}

/** `forge admin …` with this data directory, whether there is a server or not. */
export async function adminOf(
  t: ExecutionContext,
  dataDir: string,
  env: Record<string, string> = {},
): Promise<Embedded['admin']> {
  const { run } = await commandLine(t, { ...env, SERVICE_DATA_DIR: dataDir })
  return (...args) => run(['admin', ...args])
}

/** A server with an embedded PostgreSQL whose data is in the `data` of a folder, maybe restored there before. */
export async function startEmbedded(
  t: ExecutionContext,
  folder: string,
  env: Record<string, string> = {},
): Promise<Embedded> {
  const server = await serverProcess({ folder, env })
  t.teardown(() => endAttempts(join(server.dataDir, 'runs')))
  t.teardown(server.stop)
  await server.start()
  const token = await signIn(server.url)
  return {
    server,
    call: (method, path, options = {}) => callApi(server.url, method, path, { token, ...options }),
    admin: await adminOf(t, server.dataDir, env),
  }
}
