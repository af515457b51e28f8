import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'
import type { Pool } from 'pg'
import { freePort } from '../../platform/free-port.ts'
import { database } from './postgres.ts'
import { until } from './until.ts'

export const adminPassword = 'correct horse battery'

export type Forge = {
  url: string
  dataDir: string
  /** Connections of the test's own to the server's database. */
  pool: Pool
  /** The administrator's access token. */
  token: string
  /** Calls the API; `token` null calls without any. */
  call<T = Record<string, unknown>>(
    method: string,
    path: string,
    options?: CallOptions,
  ): Promise<Reply<T>>
  /** Ends the server at once, as a crash would. */
  kill(): Promise<void>
  /** Asks the server to stop and answers its exit code. */
  stop(): Promise<number | null>
  /** For instance SIGSTOP: the server stands still, its connections stay open. */
  signal(signal: NodeJS.Signals): void
  /** Starts it again on the same data and port. */
  start(): Promise<void>
  /** All the server has written so far. */
  output(): string
  /** Starts another process of this installation: same data, an address of its own. */
  another(env?: Record<string, string>): Promise<OtherProcess>
}

export type OtherProcess = Pick<Forge, 'url' | 'call' | 'kill' | 'stop' | 'output'>

export type CallOptions = {
  body?: unknown
  token?: string | null
  headers?: Record<string, string>
}
/** `body` is the parsed JSON, or the text of what is not JSON; a test names the type it expects. */
export type Reply<T> = { status: number; headers: Headers; body: T }

const startWithinMs = 60_000
const main = join(import.meta.dirname, '../../main.ts')

/** A real server in a process of its own, on an empty database of the test cluster; gone after the test. */
export async function startForge(
  t: ExecutionContext,
  env: Record<string, string> = {},
): Promise<Forge> {
  const dataDir = await mkdtemp(join(tmpdir(), 'forge-test-'))
  const { url: databaseUrl, pool } = await database(t)
  t.teardown(() => rm(dataDir, { recursive: true, force: true }))
  const shared = {
    SERVICE_DATA_DIR: dataDir,
    SERVICE_DATABASE_URL: databaseUrl,
    SERVICE_INIT_ADMIN_PASSWORD: adminPassword,
    ...env,
  }
  const server = await serverProcess(t, shared)
  await server.start()
  const forge: Forge = {
    ...server,
    dataDir,
    pool,
    token: '',
    call: (method, path, options = {}) =>
      call(server.url, forge.token, { method, path, ...options }),
    async another(more = {}) {
      const other = await serverProcess(t, { ...shared, ...more })
      await other.start()
      return {
        ...other,
        call: (method, path, options = {}) =>
          call(other.url, forge.token, { method, path, ...options }),
      }
    },
  }
  const login = { username: 'admin', password: adminPassword }
  const { body } = await forge.call<{ token: string }>('POST', '/api/auth/login', {
    body: login,
    token: null,
  })
  forge.token = body.token
  return forge
}

/** A process on a port of its own, not yet started; ended after the test. */
async function serverProcess(t: ExecutionContext, env: Record<string, string>) {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  let child: ChildProcess | null = null
  let output = ''
  const end = async (signal: NodeJS.Signals) => {
    const running = child
    if (!running || running.exitCode !== null || running.signalCode !== null)
      return running?.exitCode ?? null
    const ended = new Promise<number | null>(resolve => running.once('exit', resolve))
    running.kill(signal)
    return ended
  }
  t.teardown(() => end('SIGTERM'))
  return {
    url,
    async start() {
      child = spawn(process.execPath, [main], {
        env: {
          PATH: process.env.PATH,
          HOME: process.env.HOME,
          SERVICE_PORT: String(port),
          SERVICE_LOG_LEVEL: 'warn',
          ...env,
        },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      for (const stream of [child.stdout, child.stderr])
        stream?.on('data', chunk => {
          output += chunk
        })
      await until('the server is ready', startWithinMs, async () => {
        if (child?.exitCode !== null) throw new Error(`the server ended:\n${output}`)
        const ready = await fetch(`${url}/api/readyz`).catch(() => null)
        return ready?.status === 200
      })
    },
    output: () => output,
    async kill() {
      await end('SIGKILL')
    },
    stop: () => end('SIGTERM'),
    signal: (signal: NodeJS.Signals) => void child?.kill(signal),
  }
}

type Call = CallOptions & { method: string; path: string }

async function call<T>(
  url: string,
  ownToken: string,
  { method, path, ...options }: Call,
): Promise<Reply<T>> {
  const token = options.token === undefined ? ownToken : options.token
  const response = await fetch(`${url}${path}`, {
    method,
    headers: {
      ...(options.body !== undefined && { 'content-type': 'application/json' }),
      ...(token && { authorization: `Bearer ${token}` }),
      ...options.headers,
    },
    ...(options.body !== undefined && {
      body: typeof options.body === 'string' ? options.body : JSON.stringify(options.body),
    }),
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.includes('json') === true
  return {
    status: response.status,
    headers: response.headers,
    body: isJson && text !== '' ? JSON.parse(text) : text,
  }
}
