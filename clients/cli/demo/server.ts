import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdir, open, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { exitCode, Failure } from '../program/failure.ts'
import { pause } from '../program/pause.ts'

export type DemoServer = {
  url: string
  password: string
  /** The server was already running, left by an earlier demonstration. */
  isFound: boolean
  stop(): Promise<void>
}

type DemoOptions = {
  /** Kept between demonstrations, with the database and the recipe's Python environment. */
  dataDir: string
  port: number | null
  /** Called every two seconds with what the start is waiting for. */
  onWait: (reason: string) => void
  signal: AbortSignal
}

export const admin = 'admin'
const main = join(import.meta.dirname, '../../../main.ts')
const startWithinMs = 120_000
const stopWithinMs = 30_000

/** Starts the embedded server on that data, or reuses a running one. */
export async function startDemoServer(options: DemoOptions): Promise<DemoServer> {
  const { dataDir } = options
  await makeFolder(dataDir)
  const password = await keptPassword(join(dataDir, 'admin-password'))
  const notePath = join(dataDir, 'server.json')
  const running = await findRunning(notePath)
  if (running) {
    const stop = () => stopProcess(running.pid, notePath)
    return { url: running.url, password, isFound: true, stop }
  }
  const port = await keptPort(join(dataDir, 'port'), options.port)
  const url = `http://localhost:${port}`
  const logPath = join(dataDir, 'server.log')
  const child = await spawnServer({ dataDir, port, password, logPath })
  const pid = child.pid ?? 0
  await writeFile(notePath, JSON.stringify({ url, pid }))
  try {
    await untilReady(url, child, { ...options, logPath })
  } catch (error) {
    await stopProcess(pid, notePath)
    throw error
  }
  child.unref()
  return { url, password, isFound: false, stop: () => stopProcess(pid, notePath) }
}

async function makeFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true }).catch(error => {
    throw new Failure(exitCode.unavailable, `${path} cannot be created: ${error.message}`, {
      lines: ['hint: npm run demo -- --data DIR keeps the data elsewhere'],
    })
  })
}

/** Created once: the server gives it to the first administrator if the data is new. */
async function keptPassword(path: string): Promise<string> {
  const kept = await readFile(path, 'utf8').catch(() => null)
  if (kept?.trim() === '')
    throw new Failure(exitCode.unavailable, `${path} is empty, the password of the demonstration`, {
      lines: ['hint: restore it, or begin with new data: npm run demo -- --data DIR'],
    })
  if (kept !== null) return kept.trim()
  const made = randomBytes(12).toString('base64url')
  await writeFile(path, `${made}\n`, { mode: 0o600 })
  return made
}

type Note = { url: string; pid: number }

async function findRunning(path: string): Promise<Note | null> {
  try {
    const note = JSON.parse(await readFile(path, 'utf8')) as Note
    return (await readiness(note.url)).isReady ? note : null
  } catch {
    return null
  }
}

type Spawn = { dataDir: string; port: number; password: string; logPath: string }

async function spawnServer({ dataDir, port, password, logPath }: Spawn): Promise<ChildProcess> {
  const log = await open(logPath, 'w')
  const foreign = Object.entries(process.env).filter(
    ([name]) => !name.startsWith('SERVICE_') || name === 'SERVICE_LOCAL_ENVIRONMENTS',
  )
  const child = spawn(process.execPath, [main], {
    // Its own process group: Ctrl-C goes to the demonstration, which then stops the server.
    detached: true,
    stdio: ['ignore', log.fd, log.fd],
    env: {
      ...Object.fromEntries(foreign),
      SERVICE_DATA_DIR: dataDir,
      SERVICE_PORT: String(port),
      SERVICE_INIT_ADMIN_USERNAME: admin,
      SERVICE_INIT_ADMIN_PASSWORD: password,
    },
  })
  await log.close()
  return child
}

type Waiting = Pick<DemoOptions, 'onWait' | 'signal'> & { logPath: string }

async function untilReady(url: string, child: ChildProcess, waiting: Waiting): Promise<void> {
  const { onWait, signal, logPath } = waiting
  const began = performance.now()
  for (let asked = 0; !signal.aborted; asked++) {
    const { isReady, missing } = await readiness(url)
    if (isReady) return
    const seconds = Math.round((performance.now() - began) / 1000)
    if (child.exitCode !== null || seconds * 1000 > startWithinMs)
      throw new Failure(exitCode.unavailable, `The server did not start; see ${logPath}`, {
        lines: (await readFile(logPath, 'utf8')).trimEnd().split('\n').slice(-8),
      })
    if (asked % 20 === 19) onWait(`${seconds} s, waiting for ${missing}`)
    await pause(100, signal)
  }
  throw new Failure(exitCode.interrupted, 'Interrupted while the server started')
}

async function readiness(url: string): Promise<{ isReady: boolean; missing: string }> {
  try {
    const response = await fetch(`${url}/api/readyz`, { signal: AbortSignal.timeout(2000) })
    const { checks = {} } = (await response.json()) as { checks?: Record<string, unknown> }
    const missing = Object.entries(checks).flatMap(([name, check]) =>
      JSON.stringify(check).includes('"ok":false') ? [name] : [],
    )
    return { isReady: response.ok, missing: missing.join(', ') || 'the server' }
  } catch {
    return { isReady: false, missing: 'the server to listen' }
  }
}

async function stopProcess(pid: number, notePath: string): Promise<void> {
  const deadline = performance.now() + stopWithinMs
  send(pid, 'SIGTERM')
  while (send(pid, 0)) {
    if (performance.now() > deadline) send(pid, 'SIGKILL')
    await pause(50)
  }
  await rm(notePath, { force: true })
}

/** False if the process no longer exists. */
function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal)
  } catch {
    return false
  }
}

/** The port of last time if it is free, because a run that was left keeps reporting there. */
async function keptPort(path: string, wanted: number | null): Promise<number> {
  const kept = Number(await readFile(path, 'utf8').catch(() => 0))
  const last = Number.isInteger(kept) && kept > 0 && kept < 2 ** 16 ? kept : 0
  const port = wanted ?? (await freePort(last)) ?? (await freePort(0)) ?? 0
  await writeFile(path, `${port}\n`)
  return port
}

/** Returns that port if it is free (any free one for 0), else null. */
function freePort(port: number): Promise<number | null> {
  const server = createServer()
  return new Promise(resolve => {
    server.once('error', () => resolve(null))
    server.listen(port, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : null))
    })
  })
}
