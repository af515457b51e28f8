import type { Context } from 'koa'
import { refreshTokenOf, setRefreshCookie } from '../../auth/refresh-cookie.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { Deps } from '../deps.ts'
import { endSession } from './end-session.ts'
import { issueAccess } from './issue-access.ts'
import {
  type At,
  type Family,
  type RefreshState,
  refreshStateOf,
  sessionOf,
  successor,
} from './rotate.ts'

type Refreshing = { ctx: Context; requestId: string }

/** Throws if the session must not be refreshed. */
export type ConfirmSession = (session: {
  sid: string
  username: string
  requestId: string
}) => Promise<void>

export type Refreshed = {
  token: string
  /** Seconds. */
  expires_in: number
  user: { username: string; role: 'admin' | 'operator' }
}

/**
 * A new access token with the person's current role, and the next refresh token as a cookie. A spent token ends the
 * family when it comes 10 s or more after its use, or after its successor was used, regardless of who presents it: one
 * of two parties stole it.
 */
export async function refresh(
  deps: Deps,
  confirm: ConfirmSession,
  { ctx, requestId }: Refreshing,
): Promise<Refreshed> {
  const cookie = { ctx, baseUrl: deps.baseUrl() }
  const token = refreshTokenOf(cookie)
  if (token === null) throw signInAgain()
  // Before the token is spent: if the provider is away, the same one works later.
  const session = await sessionOf(deps.pool, token, atNow(deps))
  if (session) await confirm({ ...session, requestId })
  const at = atNow(deps)
  const { now } = at
  const { state, next } = await deps.store.transaction(async tx => {
    const found = await refreshStateOf(tx, token, at)
    const goesOn = found.is === 'live' || found.is === 'repeated'
    return { state: found, next: goesOn ? await successor(tx, token, found, now) : null }
  })
  if (state.is === 'dead') throw signInAgain()
  const { presented: family } = state
  if (next === null) return await endFamily(deps, family, requestId)
  const access = issueAccess(deps, family, now)
  setRefreshCookie(cookie, next, Math.floor((family.expires_at.getTime() - now.getTime()) / 1000))
  return { ...access, user: { username: family.username, role: family.role } }
}

const atNow = ({ now, config }: Deps): At => ({ now: now(), idleHours: config.sessionIdleHours })

/** The session that this refresh token may sign out; null if none. */
export async function familyOf(deps: Deps, request: Refreshing): Promise<Family | null> {
  const token = refreshTokenOf({ ctx: request.ctx, baseUrl: deps.baseUrl() })
  if (token === null) return null
  const at = atNow(deps)
  const state: RefreshState = await deps.store.transaction(tx => refreshStateOf(tx, token, at))
  if (state.is === 'dead') return null
  if (state.is === 'reused') return await endFamily(deps, state.presented, request.requestId)
  return state.presented
}

async function endFamily(deps: Deps, { username, sid }: Family, requestId: string): Promise<never> {
  const cause = { actor: { type: 'user' as const, id: username, via: 'refresh_token' }, requestId }
  const otherwise = signInAgain('This refresh token was used before; the session has ended')
  await endSession(deps, cause, { username, sid, as: 'user.refresh_reused', otherwise })
  throw otherwise
}

const signInAgain = (why = 'The refresh token is missing, expired, revoked or not ours') =>
  new Refusal('unauthenticated', `${why}; sign in again`)
