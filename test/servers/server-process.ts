import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../../platform/free-port.ts'
import { adminPassword } from './api.ts'
import { compiled } from './compiled.ts'
import { until } from './until.ts'
import { idsIn } from './user-ids.ts'

export type ServerOptions = {
  /** Receives the output of the server, and its data unless `env` says otherwise. */
  folder: string
  /** Receives the output instead of `folder`. */
  outputFolder?: string
  /** Settings over the defaults of an installation. */
  env?: Record<string, string>
  /** Another checkout whose server to start; by default this one. */
  checkout?: string
  /** Settings of tests that the other checkout does not know yet. */
  without?: readonly string[]
  /** Flags of node itself, e.g. `--cpu-prof`. */
  nodeFlags?: readonly string[]
  /** Restarted this long after an unexpected end; null: it stays down. */
  restartAfterMs?: number | null
}

/** The real server in a separate process. */
export type ServerProcess = {
  url: string
  dataDir: string
  /** The server's standard output and error. */
  outputFile: string
  output(): string
  /** Null while it is down. */
  pid(): number | null
  /** Starts it, the first time or again on the same data and port; resolves when it is ready. */
  start(): Promise<void>
  ready(): Promise<void>
  /** Ends it like a crash; an embedded PostgreSQL keeps running. Returns the pid, or null if it was down. */
  kill(): Promise<number | null>
  /** Stops it permanently and returns its exit code. May be called twice. */
  stop(): Promise<number | null>
  /** For instance SIGSTOP: the server is suspended, its connections stay open. */
  signal(signal: NodeJS.Signals): void
}

const thisCheckout = join(import.meta.dirname, '../..')
const endWithParent = `${new URL('end-with-parent.ts', import.meta.url)}?${process.pid}`
/** Loads large packages from one file each. */
const bundled = new URL('bundled.ts', import.meta.url).href
const readyWithinMs = 120_000
const stopWithinMs = 60_000

/** A server on its own port, not yet started. */
export async function serverProcess(options: ServerOptions): Promise<ServerProcess> {
  const { folder, outputFolder = folder, restartAfterMs = null } = options
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const outputFile = join(outputFolder, `server-${port}.log`)
  const env = await environment(options, port)
  for (const name of options.without ?? []) Reflect.deleteProperty(env, name)
  let child: ChildProcess | null = null
  let isStopping = false

  const launch = () => {
    const started = spawnServer(options, env, outputFile)
    child = started
    started.once('exit', () => {
      if (child === started) child = null
      if (restartAfterMs === null) return
      setTimeout(() => {
        if (!isStopping && child === null) launch()
      }, restartAfterMs)
    })
  }
  const ready = () =>
    until(`the server is ready (see ${outputFile})`, readyWithinMs, () => {
      if (child === null && restartAfterMs === null)
        throw new Error(`the server ended:\n${readFileSync(outputFile, 'utf8')}`)
      return isReady(url)
    }).then(() => {})

  return {
    url,
    dataDir: env.SERVICE_DATA_DIR,
    outputFile,
    output: () => readFileSync(outputFile, 'utf8'),
    pid: () => child?.pid ?? null,
    ready,
    async start() {
      isStopping = false
      launch()
      await ready()
    },
    async kill() {
      const running = child
      if (running === null) return null
      await end(running, 'SIGKILL')
      return running.pid ?? null
    },
    async stop() {
      isStopping = true
      return child && (await end(child, 'SIGTERM'))
    },
    signal: signal => void child?.kill(signal),
  }
}

/** The settings of a server of the tests whose data is in `folder`. */
export const environment = async (
  { folder, env = {} }: Pick<ServerOptions, 'folder' | 'env'>,
  port: number,
) => ({
  PATH: process.env.PATH,
  HOME: process.env.HOME,
  SERVICE_DATA_DIR: dataIn(folder),
  SERVICE_PORT: String(port),
  SERVICE_INIT_ADMIN_PASSWORD: adminPassword,
  SERVICE_LOG_LEVEL: 'warn',
  // Tests report samples of fixed days, which some read long afterwards.
  SERVICE_HARDWARE_RAW_DAYS: '0',
  // Each of hundreds of servers would write its own.
  SERVICE_DISK_RESERVE_MB: '0',
  NODE_COMPILE_CACHE: compiled,
  SERVICE_LOCAL_USER_IDS: await idsIn(folder),
  // Building one takes longer than most tests.
  SERVICE_LOCAL_ENVIRONMENTS: process.env.FORGE_TEST_ENVIRONMENTS,
  ...env,
})

/** The data directory of a server, in the folder of its test. */
export const dataIn = (folder: string): string => join(folder, 'data')

/**
 * Its output goes straight to the file: a pipe would burden the measuring process. It ends with this process, however
 * that ends.
 */
function spawnServer(
  { folder, nodeFlags = [], checkout = thisCheckout }: ServerOptions,
  env: Record<string, string | undefined>,
  outputFile: string,
): ChildProcess {
  const output = openSync(outputFile, 'a')
  try {
    const flags = [...nodeFlags, '--import', bundled, '--import', endWithParent]
    return spawn(process.execPath, [...flags, join(checkout, 'main.ts')], {
      cwd: folder,
      env,
      stdio: ['ignore', output, output],
    })
  } finally {
    closeSync(output)
  }
}

/** Resolves once it is gone, with its exit code; a process that does not stop on request is killed. */
async function end(running: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  const ended = new Promise<number | null>(resolve => running.once('exit', resolve))
  running.kill(signal)
  const timer = setTimeout(() => running.kill('SIGKILL'), stopWithinMs)
  const code = await ended
  clearTimeout(timer)
  return code
}

export async function isReady(url: string): Promise<boolean> {
  const response = await fetch(`${url}/api/readyz`, { signal: AbortSignal.timeout(2_000) }).catch(
    () => null,
  )
  await response?.body?.cancel()
  return response?.status === 200
}
