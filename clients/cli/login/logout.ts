import { createApi } from '../api/client.ts'
import { describe } from '../program/describe.ts'
import { type ExitCode, exitCode, Failure } from '../program/failure.ts'
import type { CommonOptions, World } from '../program/session.ts'
import { version } from '../program/version.ts'
import { toJson } from '../terminal/harmless.ts'
import {
  type Contexts,
  contextsPath,
  type Refresh,
  readContexts,
  targetOf,
  updateContexts,
  withContext,
} from './contexts.ts'

export const describeLogout = describe({
  text: 'end the session at the server and forget its token here',
})

/** Forgets the token in any case; the exit code shows whether the server ended the session. */
export async function logout(world: World, options: CommonOptions): Promise<ExitCode> {
  const { terminal, env } = world
  const path = contextsPath(env)
  const stored = await readContexts(path)
  // The stored token, not FORGE_TOKEN, which this command cannot remove from the environment.
  const found = targetOf(options, { FORGE_HOST: env.FORGE_HOST }, stored)
  const { host, context } = found
  const token = found.token ?? env.FORGE_TOKEN ?? null
  if (token === null) throw new Failure(exitCode.auth, `You are not signed in at ${host}`)
  const { refresh = null } = (context === null ? undefined : stored.contexts[context]) ?? {}
  const trouble = await endSession(world, host, { token, refresh })
  if (context !== null) await updateContexts(path, known => withoutToken(known, context))
  if (trouble !== null) throw unended(host, trouble)
  if (options.json) terminal.data(toJson({ host, context, signed_out: true }))
  else terminal.note(`Signed out at ${host}`)
  if (env.FORGE_TOKEN) terminal.note('FORGE_TOKEN is still set')
  return exitCode.ok
}

/** A context that was removed meanwhile does not come back. */
function withoutToken(known: Contexts, name: string): Contexts {
  const kept = known.contexts[name]
  return kept ? withContext(known, name, { ...kept, token: null, refresh: null }) : known
}

/** Null once the session has ended, even if it already had. */
async function endSession(
  { terminal }: World,
  host: string,
  { token, refresh }: { token: string; refresh: Refresh | null },
): Promise<Failure | null> {
  const api = createApi({
    host,
    token,
    userAgent: `forge-cli/${version}`,
    onSlow: reason => terminal.note(terminal.paintNote('dim', reason)),
  })
  try {
    // After the access token has ended, the cookie still ends the session.
    const headers: Record<string, string> = refresh === null ? {} : { cookie: refresh.cookie }
    await api.post('/api/auth/logout', {}, { headers })
    return null
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    return error.fields.status === 401 ? null : error
  }
}

const unended = (host: string, { exitCode: code, message, fields }: Failure): Failure =>
  new Failure(
    code,
    `The token was forgotten here, but ${host} did not end its session: ${message}`,
    {
      fields,
    },
  )
