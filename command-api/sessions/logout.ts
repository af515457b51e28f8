import type { Context } from 'koa'
import type { Anybody, Person } from '../../auth/caller.ts'
import { clearRefreshCookie } from '../../auth/refresh-cookie.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { Deps } from '../deps.ts'
import { endSession } from './end-session.ts'
import { familyOf } from './refresh.ts'

type SigningOut = { caller: Person | Anybody; requestId: string; ctx: Context }

/**
 * Ends the session of the access token and that of the cookie, since a browser that signed in twice has both.
 * Refuses a caller without a live one.
 */
export async function logout(deps: Deps, request: SigningOut): Promise<void> {
  const { caller, requestId, ctx } = request
  clearRefreshCookie({ ctx, baseUrl: deps.baseUrl() })
  const byToken = caller.kind === 'person' ? caller : null
  const byCookie = await familyOf(deps, request).catch(error => {
    // The cookie's family was ended as stolen; the token's session must still end.
    if (byToken !== null && error instanceof Refusal && error.code === 'unauthenticated')
      return null
    throw error
  })
  const sessions = new Map(
    [byCookie, byToken].filter(session => session !== null).map(session => [session.sid, session]),
  )
  if (sessions.size === 0) throw nobodyIsSignedIn()
  for (const { username, sid, via } of sessions.values()) {
    const asked = { caller: { kind: 'person' as const, username, via }, requestId, ctx }
    const otherwise = nobodyIsSignedIn()
    await endSession(deps, asked, { username, sid, as: 'user.logout', otherwise })
  }
}

const nobodyIsSignedIn = () =>
  new Refusal('unauthenticated', 'Not signed in: neither the token nor the cookie is valid')
