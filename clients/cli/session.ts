import { type Api, createApi } from './api.ts'
import { contextsPath, readContexts, targetOf } from './contexts.ts'
import { exitCode, Failure } from './failure.ts'
import type { Terminal } from './terminal.ts'
import { version } from './version.ts'

/** Options of every command. */
export type CommonOptions = { host?: string; context?: string; json?: boolean }

export type Session = {
  api: Api
  /** Name of the context in use; null if there is none for this host. */
  context: string | null
  terminal: Terminal
  isJson: boolean
  env: Record<string, string | undefined>
  nowMs: () => number
}

export type World = Pick<Session, 'terminal' | 'env' | 'nowMs'>

/** Opens a session with the token from flags, environment or stored contexts, if any. */
export async function openSession(world: World, options: CommonOptions): Promise<Session> {
  const { terminal, env } = world
  const stored = await readContexts(contextsPath(env))
  const { host, token, context } = targetOf(options, env, stored)
  const api = createApi({
    host,
    token,
    userAgent: `forge-cli/${version}`,
    onSlow: reason => terminal.note(terminal.paintNote('dim', reason)),
  })
  return { ...world, api, context, isJson: options.json === true }
}

/** Like `openSession`, but fails at once when signed out. */
export async function openSignedIn(world: World, options: CommonOptions): Promise<Session> {
  const session = await openSession(world, options)
  if (!session.api.isSignedIn)
    throw new Failure(exitCode.auth, `You are not signed in at ${session.api.host}`, {
      lines: [`hint: forge login --host ${session.api.host}, or set FORGE_TOKEN`],
    })
  return session
}
