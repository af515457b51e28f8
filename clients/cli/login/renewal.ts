import { toTimestamp } from '../../../schemas/timestamp.ts'
import { createApi } from '../api/client.ts'
import { exitCode, Failure } from '../program/failure.ts'
import {
  type Context,
  contextNamed,
  type Refresh,
  readContexts,
  withContext,
  writeContexts,
} from './contexts.ts'
import { inTurn } from './in-turn.ts'

type Renewing = {
  /** The file of the contexts. */
  path: string
  /** Name of the context whose token is renewed. */
  context: string
  userAgent: string
  nowMs: () => number
}

/**
 * Renews the access token of a context with its refresh cookie. Each cookie works once and a second use ends the
 * session, so concurrent commands take turns: later ones find the token that the first one stored.
 */
export function renewal(renewing: Renewing): (refused: string) => Promise<string | null> {
  let current: Promise<string | null> | null = null
  return refused => {
    current ??= inTurn(renewing.path, () => renewed(renewing, refused)).finally(() => {
      current = null
    })
    return current
  }
}

async function renewed(
  { path, context, userAgent, nowMs }: Renewing,
  refused: string,
): Promise<string | null> {
  const stored = await readContexts(path)
  const known = contextNamed(context, stored)
  if (known.token !== null && known.token !== refused) return known.token
  const { refresh = null } = known
  if (refresh === null || Date.parse(refresh.expires_at) <= nowMs()) return null
  const next = await askForToken(known.host, refresh, { userAgent, nowMs })
  await writeContexts(path, withContext(stored, context, { ...known, ...next }))
  return next.token
}

type Renewed = Pick<Context, 'token' | 'refresh'>

async function askForToken(
  host: string,
  refresh: Refresh,
  { userAgent, nowMs }: Pick<Renewing, 'userAgent' | 'nowMs'>,
): Promise<Renewed> {
  let next: Refresh | null = null
  const api = createApi({
    ...{ host, token: null, userAgent, onSlow: () => {} },
    onCookie: cookie => {
      next = refreshOf(cookie, nowMs()) ?? next
    },
  })
  try {
    const { token } = await api.post<{ token: string }>(
      '/api/auth/refresh',
      {},
      {
        headers: { cookie: refresh.cookie },
      },
    )
    return { token, refresh: next }
  } catch (error) {
    // The session has ended, so its cookie is useless.
    if (error instanceof Failure && error.exitCode === exitCode.auth)
      return { token: null, refresh: null }
    throw error
  }
}

/** The refresh token of a `Set-Cookie` header; null for other cookies. */
export function refreshOf(header: string, nowMs: number): Refresh | null {
  const [cookie = '', ...attributes] = header.split(';').map(part => part.trim())
  if (!/^(__Secure-)?forge_refresh=[\w-]+$/.test(cookie)) return null
  const age = attributes.map(text => /^max-age=(\d+)$/i.exec(text)?.[1]).find(Boolean)
  if (age === undefined) return null
  return { cookie, expires_at: toTimestamp(new Date(nowMs + Number(age) * 1000)) }
}
