import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import type { Pool } from 'pg'
import { type CallOptions, callApi, type Reply, signIn } from './api.ts'
import { endAttempts } from './end-attempts.ts'
import type { Installation as Begun } from './hosted.ts'
import { type HostedServer, hostedServer } from './hosted-forge.ts'
import { database, databaseFrom, type Scope } from './postgres.ts'
import { addressOf } from './rendezvous.ts'
import { dataIn, type ServerProcess, serverProcess } from './server-process.ts'

type Called = {
  /** Calls the API as the administrator; `token` null calls without any. */
  call<T = Record<string, unknown>>(
    method: string,
    path: string,
    options?: CallOptions,
  ): Promise<Reply<T>>
}

type Installation<Server> = Server &
  Called & {
    /** The test's own connections to the server's database. */
    pool: Pool
    /** The administrator's access token. */
    token: string
    /** Starts another server of this installation: same data, another address. */
    another(env?: Record<string, string>): Promise<Server & Called>
  }

export type Forge = Installation<HostedServer>

/** In a separate process, which can be killed and suspended. */
export type ForgeProcess = Installation<Omit<ServerProcess, 'pid' | 'ready' | 'outputFile'>>

export type OtherServer = Awaited<ReturnType<Forge['another']>>
export type OtherProcess = Awaited<ReturnType<ForgeProcess['another']>>

/**
 * A real server with its own database and a signed-in administrator; removed after the test. It runs in the
 * process that hosts the servers of this lane.
 */
export const startForge = (t: Scope, env: Record<string, string> = {}): Promise<Forge> =>
  install(t, env, hostedServer)

/** The same in a separate process, for tests that kill it, signal it, or inspect the process. */
export const startForgeProcess = (
  t: Scope,
  env: Record<string, string> = {},
): Promise<ForgeProcess> => install(t, env, serverProcess)

type Startable = Pick<HostedServer, 'url' | 'output' | 'start'> & { stop(): Promise<unknown> }

async function install<Server extends Startable>(
  t: Scope,
  env: Record<string, string>,
  create: (options: { folder: string; env: Record<string, string> }) => Promise<Server>,
): Promise<Installation<Server>> {
  const folder = await mkdtemp(join(tmpdir(), 'forge-test-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  t.teardown(() => endAttempts(join(dataIn(folder), 'runs')))
  const { pool, databaseUrl, token } = await begin(t, folder, env)
  const startServer = async (more: Record<string, string> = {}) => {
    const server = await create({
      folder,
      env: { SERVICE_DATABASE_URL: databaseUrl, ...env, ...more },
    })
    t.teardown(async () => {
      if (t.passed === false) t.log?.(lastLines(server.output()))
      await server.stop()
    })
    await server.start()
    const call: Called['call'] = (method, path, { token = forge.token, ...options } = {}) =>
      callApi(server.url, method, path, { token, ...options })
    return { ...server, call }
  }
  const server = await startServer()
  const forge = {
    ...server,
    pool,
    token: token ?? (await signIn(server.url)),
    another: startServer,
  }
  return forge
}

type Beginning = { pool: Pool; databaseUrl: string; token: string | null }

/** Settings of the first start, or about sign-in: with any of them, the installation begins empty. */
const ofTheFirstStart = /^SERVICE_(INIT_|OIDC_|DATABASE_URL|DATA_DIR|KEYS_|JWT_)/

/** A database and a data directory in the state left by the first start of an installation. `token` is null: sign in. */
async function begin(t: Scope, folder: string, env: Record<string, string>): Promise<Beginning> {
  if (Object.keys(env).some(name => ofTheFirstStart.test(name))) {
    const { pool, url } = await database(t)
    // With an identity provider nobody signs in with a password.
    return { pool, databaseUrl: url, token: env.SERVICE_OIDC_ISSUER === undefined ? null : '' }
  }
  const begun: Begun = JSON.parse(await addressOf('installation'))
  const keys = join(dataIn(folder), 'keys')
  await mkdir(keys, { recursive: true, mode: 0o700 })
  for (const [file, pem] of Object.entries(begun.keys))
    await writeFile(join(keys, file), pem, { mode: 0o600 })
  const { pool, url } = await databaseFrom(t, begun.template)
  // As if the administrator had just signed in, with an unused sign-in limit.
  await pool.query(`
    update auth.session set created_at = now(), authenticated_at = now();
    delete from auth.rate_limit`)
  return { pool, databaseUrl: url, token: begun.token }
}

const lastLines = (output: string): string => output.split('\n').slice(-40).join('\n')

/**
 * One server for the tests of a file that do not count others' records; the first to ask starts it. To be called
 * at the top level, not within a test.
 */
export const sharedForge = (env: Record<string, string> = {}): (() => Promise<Forge>) =>
  shared(scope => startForge(scope, env))

/** The same in a separate process. */
export const sharedForgeProcess = (
  env: Record<string, string> = {},
): (() => Promise<ForgeProcess>) => shared(scope => startForgeProcess(scope, env))

function shared<T>(start: (scope: Scope) => Promise<T>): () => Promise<T> {
  const ends: (() => unknown)[] = []
  let started: Promise<T> | null = null
  test.after.always('the shared server ends', async () => {
    for (const end of ends.reverse()) await end()
  })
  const scope = { title: 'shared', teardown: (end: () => unknown) => void ends.push(end) }
  return () => {
    started ??= start(scope)
    return started
  }
}
