import { mkdir, rmdir, stat } from 'node:fs/promises'
import { toTimestamp } from '../../schemas/timestamp.ts'
import { createApi } from './api.ts'
import {
  type Context,
  contextNamed,
  type Refresh,
  readContexts,
  writeContexts,
} from './contexts.ts'
import { exitCode, Failure } from './failure.ts'
import { pause } from './sse.ts'

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
 * session, so commands that run at once take turns: who comes later finds the token that the first one stored.
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
  const known = contextNamed(context, await readContexts(path))
  if (known.token !== null && known.token !== refused) return known.token
  const { refresh = null } = known
  if (refresh === null || Date.parse(refresh.expires_at) <= nowMs()) return null
  const next = await askForToken(known.host, refresh, { userAgent, nowMs })
  const { current, contexts } = await readContexts(path)
  const kept = contexts[context] ?? known
  await writeContexts(path, { current, contexts: { ...contexts, [context]: { ...kept, ...next } } })
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
    // The session has ended; a cookie that is of no use is not kept.
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

/** A lock older than this belongs to a command that was killed. */
const abandonedMs = 40_000
const lookEveryMs = 50

/** Runs the work while no other command does; a folder is the lock, since making one succeeds only once. */
async function inTurn<T>(path: string, work: () => Promise<T>): Promise<T> {
  const lock = `${path}.lock`
  while (!(await isTaken(lock))) await pause(lookEveryMs, new AbortController().signal)
  try {
    return await work()
  } finally {
    await rmdir(lock).catch(() => {})
  }
}

async function isTaken(lock: string): Promise<boolean> {
  try {
    await mkdir(lock)
    return true
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    const made = await stat(lock).catch(() => null)
    if (made !== null && Date.now() - made.mtimeMs > abandonedMs) await rmdir(lock).catch(() => {})
    return false
  }
}
