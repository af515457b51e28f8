import { type Api, createApi } from '../api/client.ts'
import { contextsFor, contextsPath, targetOf } from '../login/contexts.ts'
import { renewal } from '../login/renewal.ts'
import { ask, mayAsk } from '../terminal/ask.ts'
import { processTerminal, type Terminal } from '../terminal/terminal.ts'
import { exitCode, Failure } from './failure.ts'
import { type Printing, watchOutput } from './output.ts'
import type { Process } from './process.ts'
import { version } from './version.ts'

/** Options of every command. */
export type CommonOptions = { host?: string; context?: string; json?: boolean }

/** Options with a value, each of which may be left out. */
export type Texts<Names extends string> = { [Name in Names]?: string }
/** Options without a value. */
export type Flags<Names extends string> = { [Name in Names]?: boolean }

/** The surroundings of a command. */
export type World = {
  terminal: Terminal
  env: Process['env']
  nowMs: () => number
  process: Process
  printing: Printing
}

export const worldOf = (process: Process): World => ({
  terminal: processTerminal(process),
  env: process.env,
  nowMs: () => Date.now(),
  process,
  printing: watchOutput(process),
})

export type Session = World & {
  api: Api
  /** Name of the context in use; null if there is none for this host. */
  context: string | null
  /** The end of a session whose tokens are renewed automatically; null if they are not. */
  signedInUntil: string | null
  isJson: boolean
}

/** Opens a session with the token from flags, environment or stored contexts, if any. */
export async function openSession(world: World, options: CommonOptions): Promise<Session> {
  const { terminal, env, process } = world
  const path = contextsPath(env)
  const stored = await contextsFor(options, env)
  const { host, token, context } = targetOf(options, env, stored)
  const userAgent = `forge-cli/${version}`
  const { nowMs } = world
  const isStored = context !== null && token === stored.contexts[context]?.token
  const api = createApi({
    ...{ host, token, userAgent, isExact: options.json === true },
    onSlow: reason => terminal.note(terminal.paintNote('dim', reason)),
    askPassword: mayAsk(process)
      ? () => ask(process, question, '--password-stdin', { isHidden: true })
      : null,
    askCode: () => ask(process, codeQuestion, '--password-stdin'),
    ...(isStored && { renew: renewal({ path, context, userAgent, nowMs }) }),
  })
  const refresh = isStored ? stored.contexts[context]?.refresh : null
  const signedInUntil = refresh?.expires_at ?? null
  return { ...world, api, context, signedInUntil, isJson: options.json === true }
}

export const codeQuestion = 'Code of your authenticator, or a recovery code: '
const question = 'This needs a sign-in of the last 15 minutes. Your password: '

/** Like `openSession`, but fails at once when signed out. */
export async function openSignedIn(world: World, options: CommonOptions): Promise<Session> {
  const session = await openSession(world, options)
  if (!session.api.isSignedIn)
    throw new Failure(exitCode.auth, `You are not signed in at ${session.api.host}`, {
      lines: [`hint: forge login --host ${session.api.host}, or set FORGE_TOKEN`],
    })
  return session
}
