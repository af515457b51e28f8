import { accessSync, constants, existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { type Api, createApi } from '../api/client.ts'
import { contextsPath, signInTarget, updateContexts, withContext } from '../login/contexts.ts'
import { Failure } from '../program/failure.ts'
import { worldOf } from '../program/session.ts'
import { version } from '../program/version.ts'
import { admin, type DemoServer, startDemoServer } from './server.ts'

/** What the demonstrations have in common: a server of their own, and an end that leaves nothing behind. */

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

/** Beside the program, where `npm start` keeps its data too; in the person's own folder if that is read-only. */
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

export async function startServer(
  { dataDir, port }: { dataDir: string; port: number | null },
  signal: AbortSignal,
): Promise<DemoServer> {
  const began = performance.now()
  terminal.note('Starting a Forge server with a PostgreSQL of its own')
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

export async function signIn({ url, password }: DemoServer, isKept: boolean): Promise<Api> {
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

export async function finish(server: DemoServer, isKept: boolean, command: string): Promise<void> {
  if (isKept) {
    terminal.note(
      `The server keeps running at ${server.url}: sign in as ${admin}, password ${server.password}`,
    )
    return
  }
  await server.stop()
  terminal.note(`The server has stopped; npm run ${command} -- --keep leaves it running`)
}
