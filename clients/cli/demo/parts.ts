import { accessSync, constants, existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { type Api, createApi } from '../api/client.ts'
import { contextsPath, signInTarget, updateContexts, withContext } from '../login/contexts.ts'
import { exitCode, Failure, usageFailure } from '../program/failure.ts'
import { worldOf } from '../program/session.ts'
import { version } from '../program/version.ts'
import { admin, type DemoServer, startDemoServer } from './server.ts'

/** Shared by the demonstrations: a separate server, and an end that leaves nothing behind. */

export const world = worldOf(process)
export const { terminal } = world

/** Runs a demonstration as the whole of this process. */
export async function demonstrateAndExit(demonstrate: () => Promise<number>): Promise<never> {
  try {
    process.exitCode = await demonstrate()
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    terminal.note(`${terminal.paintNote('red', 'error:')} ${error.message}`)
    for (const line of error.lines) terminal.note(`  ${line}`)
    process.exitCode = error.exitCode
  }
  process.exit()
}

/** Options of every demonstration. */
export const commonArguments = {
  port: { type: 'string' },
  data: { type: 'string' },
  help: { type: 'boolean', short: 'h', default: false },
} as const

type Common = { port?: string; data?: string; help: boolean }

/** The options of this process; `--help` prints the usage, and an option that is unknown fails with it. */
export function readArguments<Values extends Common>(
  usage: string,
  parse: () => { values: Values },
): Omit<Values, 'port'> & { port: number | null } {
  const { port, ...values } = orUsage(usage, parse)
  if (values.help) {
    terminal.data(usage)
    process.exit(exitCode.ok)
  }
  return { ...values, port: portOf(port) }
}

function orUsage<Values>(usage: string, parse: () => { values: Values }): Values {
  try {
    return parse().values
  } catch (error) {
    throw usageFailure(error instanceof Error ? error.message : String(error), ...usage.split('\n'))
  }
}

/** Null: a free one. */
function portOf(text: string | undefined): number | null {
  if (text === undefined) return null
  if (!/^\d{1,5}$/.test(text)) throw usageFailure(`--port ${text}: give a number up to 65535`)
  return Number(text)
}

type Wanted = { dataDir: string; port: number | null; keep: boolean }

/** Shows something on a server that is stopped afterwards unless it is kept. */
export async function withServer(
  wanted: Wanted,
  command: string,
  show: (server: DemoServer, api: Api, interrupted: AbortSignal) => Promise<number>,
): Promise<number> {
  const interrupted = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => interrupted.abort())
  const server = await startServer(wanted, interrupted.signal)
  try {
    return await show(server, await signIn(server, wanted.keep), interrupted.signal)
  } finally {
    await finish(server, wanted.keep, command)
  }
}

/** Next to the program, where `npm start` keeps its data too; in the person's own folder if that is read-only. */
export function demoFolder(env: Record<string, string | undefined>): string {
  const checkout = join(import.meta.dirname, '../../..')
  const here = join(checkout, '.forge/demo')
  const nearest = [here, join(checkout, '.forge'), checkout].find(folder => existsSync(folder))
  try {
    accessSync(nearest ?? checkout, constants.W_OK)
    return here
  } catch {
    return join(env.XDG_DATA_HOME || join(env.HOME || homedir(), '.local/share'), 'forge/demo')
  }
}

async function startServer(
  { dataDir, port }: { dataDir: string; port: number | null },
  signal: AbortSignal,
): Promise<DemoServer> {
  const began = performance.now()
  terminal.note('Starting a Forge server with its own PostgreSQL')
  const onWait = (reason: string) => terminal.note(terminal.paintNote('dim', `  ${reason}`))
  const server = await startDemoServer({ dataDir, port, onWait, signal })
  const seconds = ((performance.now() - began) / 1000).toFixed(1)
  terminal.note(
    server.isFound
      ? `  it is already running at ${server.url}`
      : `  ${server.url} after ${seconds} s`,
  )
  return server
}

async function signIn({ url, password }: DemoServer, isKept: boolean): Promise<Api> {
  const connect = (token: string | null) =>
    createApi({
      ...{ host: url, token, userAgent: `forge-demo/${version}` },
      onSlow: reason => terminal.note(terminal.paintNote('dim', reason)),
    })
  const login = { username: admin, password }
  const { token } = await connect(null).post<{ token: string }>('/api/auth/login', login)
  if (isKept) await remember(url, token)
  return connect(token)
}

/** Stores a context for the kept server; an existing sign-in stays the default. */
async function remember(url: string, token: string): Promise<void> {
  await updateContexts(contextsPath(process.env), stored => {
    const { host, context } = signInTarget({ host: url }, {}, stored)
    const added = withContext(stored, context, { host, username: admin, token })
    return { ...added, current: stored.current ?? context }
  })
}

async function finish(server: DemoServer, isKept: boolean, command: string): Promise<void> {
  if (isKept) {
    terminal.note(
      `The server keeps running at ${server.url}: sign in as ${admin}, password ${server.password}`,
    )
    return
  }
  await server.stop()
  terminal.note(`The server has stopped; npm run ${command} -- --keep leaves it running`)
}
