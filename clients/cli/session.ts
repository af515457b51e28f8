import { type Api, createApi } from './api.ts'
import { contextsPath, readContexts, targetOf } from './contexts.ts'
import { exitCode, Failure } from './failure.ts'
import type { Terminal } from './terminal.ts'
import { version } from './version.ts'

/** The options every command has. */
export type CommonOptions = { host?: string; context?: string; json?: boolean }

export type Session = {
  api: Api
  /** The stored context in use; null where none is for this host. */
  context: string | null
  terminal: Terminal
  isJson: boolean
  env: Record<string, string | undefined>
  nowMs: () => number
}

export type World = Pick<Session, 'terminal' | 'env' | 'nowMs'>

/** What a command works with, signed in as far as the environment and the stored contexts say. */
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

/** Like `openSession`, but refuses at once where nobody is signed in. */
export async function openSignedIn(world: World, options: CommonOptions): Promise<Session> {
  const session = await openSession(world, options)
  if (!session.api.isSignedIn)
    throw new Failure(exitCode.auth, `Nobody is signed in at ${session.api.host}`, {
      lines: [`hint: forge login --host ${session.api.host}, or set FORGE_TOKEN`],
    })
  return session
}
