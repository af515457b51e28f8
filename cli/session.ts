import { type Api, createApi } from './api.ts'
import { contextsPath, readContexts, targetOf } from './contexts.ts'
import { exitCode, Failure } from './failure.ts'
import type { Terminal } from './terminal.ts'
import { version } from './version.ts'

/** The options every command has. */
export type CommonOptions = { host?: string; json?: boolean }

export type Session = {
  api: Api
  terminal: Terminal
  isJson: boolean
  env: Record<string, string | undefined>
  nowMs: () => number
}

export type World = Pick<Session, 'terminal' | 'env' | 'nowMs'>

/** What a command works with, signed in as far as the environment and the stored contexts say. */
export async function openSession(world: World, options: CommonOptions): Promise<Session> {
  const { terminal, env } = world
  const { host, token } = targetOf(options.host, env, await readContexts(contextsPath(env)))
  const api = createApi({
    host,
    token,
    userAgent: `forge-cli/${version}`,
    onSlow: reason => terminal.note(terminal.paintNote('dim', reason)),
  })
  return { ...world, api, isJson: options.json === true }
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
