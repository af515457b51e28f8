import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, open, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { untilTrue } from './until.ts'

export type ServerOptions = {
  /** Settings over the defaults of an installation. */
  env?: Record<string, string>
  /** Flags of node itself, e.g. `--cpu-prof`. */
  nodeFlags?: readonly string[]
  /** Started again this long after it ends by itself; null: it stays down. */
  restartAfterMs?: number | null
}

/** The real server in a process of its own, with its database, on a data directory that goes with it. */
export type Server = {
  url: string
  dataDir: string
  /** What the server wrote to its standard output and error. */
  outputFile: string
  /** Null while it is down. */
  pid(): number | null
  /** Ends it as a crash would; its PostgreSQL goes on. Answers the pid, or null where it was down already. */
  kill(): number | null
  /** Resolves when it answers that it is ready. */
  ready(withinMs?: number): Promise<void>
  /** Stops it and its PostgreSQL; the data directory stays until `remove`. May be called twice. */
  stop(): Promise<void>
  remove(): Promise<void>
}

export const adminPassword = 'a password for the length of a measurement'

const main = join(import.meta.dirname, '../../main.ts')
const readyWithinMs = 120_000
const stopWithinMs = 60_000

/** Starts `main.ts` with the embedded PostgreSQL, durable as shipped, in a new folder for temporary files. */
export async function startServer(options: ServerOptions = {}): Promise<Server> {
  const dataDir = await mkdtemp(join(tmpdir(), 'forge-bench-'))
  const port = await freePort()
  const outputFile = join(dataDir, 'server.log')
  const output = await open(outputFile, 'a')
  const url = `http://127.0.0.1:${port}`
  let child: ChildProcess | null = null
  let stopping = false

  const launch = () => {
    const started = spawn(process.execPath, [...(options.nodeFlags ?? []), main], {
      cwd: dataDir,
      env: {
        PATH: process.env.PATH,
        HOME: process.env.HOME,
        SERVICE_DATA_DIR: join(dataDir, 'data'),
        SERVICE_PORT: String(port),
        SERVICE_INIT_ADMIN_PASSWORD: adminPassword,
        SERVICE_LOG_LEVEL: 'warn',
        ...options.env,
      },
      stdio: ['ignore', output.fd, output.fd],
    })
    started.once('exit', () => {
      if (child === started) child = null
      const { restartAfterMs = null } = options
      if (restartAfterMs !== null && !stopping)
        setTimeout(() => {
          if (!stopping) launch()
        }, restartAfterMs)
    })
    child = started
  }

  const server: Server = {
    url,
    dataDir: join(dataDir, 'data'),
    outputFile,
    pid: () => child?.pid ?? null,
    kill() {
      const running = child
      // Its end is noticed a little later; until then it must not be killed twice.
      child = null
      return running?.kill('SIGKILL') ? (running.pid ?? null) : null
    },
    async ready(withinMs = readyWithinMs) {
      await untilTrue(`the server is ready (see ${outputFile})`, withinMs, () => {
        if (child === null && options.restartAfterMs == null)
          throw new Error(`the server ended; see ${outputFile}`)
        return isReady(url)
      })
    },
    async stop() {
      if (stopping) return
      stopping = true
      const running = child
      if (running) {
        const ended = new Promise<void>(resolve => running.once('exit', () => resolve()))
        running.kill('SIGTERM')
        const timer = setTimeout(() => running.kill('SIGKILL'), stopWithinMs)
        await ended
        clearTimeout(timer)
      }
      await output.close()
    },
    remove: () => rm(dataDir, { recursive: true, force: true }),
  }
  launch()
  try {
    await server.ready()
  } catch (error) {
    await server.stop()
    throw error
  }
  return server
}

export async function isReady(url: string): Promise<boolean> {
  const response = await fetch(`${url}/api/readyz`, { signal: AbortSignal.timeout(2_000) }).catch(
    () => null,
  )
  await response?.body?.cancel()
  return response?.status === 200
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const listener = createServer()
    listener.once('error', reject)
    listener.listen(0, '127.0.0.1', () => {
      const address = listener.address()
      const port = typeof address === 'object' && address ? address.port : 0
      listener.close(() => resolve(port))
    })
  })
}
