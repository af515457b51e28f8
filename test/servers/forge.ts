import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import type { Pool } from 'pg'
import { type CallOptions, callApi, type Reply, signIn } from './api.ts'
import { endAttempts } from './end-attempts.ts'
import { database, type Scope } from './postgres.ts'
import { type ServerProcess, serverProcess } from './server-process.ts'

export type Forge = Omit<ServerProcess, 'pid' | 'ready' | 'outputFile'> & {
  /** Connections of the test's own to the server's database. */
  pool: Pool
  /** The administrator's access token. */
  token: string
  /** Calls the API as the administrator; `token` null calls without any. */
  call<T = Record<string, unknown>>(
    method: string,
    path: string,
    options?: CallOptions,
  ): Promise<Reply<T>>
  /** Starts another process of this installation: same data, an address of its own. */
  another(env?: Record<string, string>): Promise<OtherProcess>
}

export type OtherProcess = Pick<Forge, 'url' | 'call' | 'start' | 'kill' | 'stop' | 'output'>

/** A real server in a process of its own, on an empty database of the test cluster; gone after the test. */
export async function startForge(t: Scope, env: Record<string, string> = {}): Promise<Forge> {
  const folder = await mkdtemp(join(tmpdir(), 'forge-test-'))
  const { url: databaseUrl, pool } = await database(t)
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  t.teardown(() => endAttempts(join(folder, 'data', 'runs')))
  const startProcess = async (more: Record<string, string> = {}) => {
    const process = await serverProcess({
      folder,
      env: { SERVICE_DATABASE_URL: databaseUrl, ...env, ...more },
    })
    t.teardown(process.stop)
    await process.start()
    const call: Forge['call'] = (method, path, { token = forge.token, ...options } = {}) =>
      callApi(process.url, method, path, { token, ...options })
    return { ...process, call }
  }
  const server = await startProcess()
  const forge: Forge = {
    ...server,
    pool,
    // With an identity provider nobody signs in with a password.
    token: env.SERVICE_OIDC_ISSUER === undefined ? await signIn(server.url) : '',
    another: startProcess,
  }
  return forge
}

/**
 * One server for the tests of a file that do not count what others create; the first to ask starts it. To be called
 * beside the tests, not within one.
 */
export function sharedForge(env: Record<string, string> = {}): () => Promise<Forge> {
  const ends: (() => unknown)[] = []
  let started: Promise<Forge> | null = null
  test.after.always('the shared server ends', async () => {
    for (const end of ends.reverse()) await end()
  })
  const scope = { title: 'shared', teardown: (end: () => unknown) => void ends.push(end) }
  return () => {
    started ??= startForge(scope, env)
    return started
  }
}
