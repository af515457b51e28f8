import type { Context } from 'koa'
import { sha256 } from '../../auth/opaque-token.ts'
import { createRefreshToken, setRefreshCookie } from '../../auth/refresh-cookie.ts'
import { type UserEvent, userAt } from '../../events/users.ts'
import { commit } from '../commit/commit.ts'
import type { Transaction } from '../commit/event-store.ts'
import type { CommandConfig, Deps } from '../deps.ts'
import { issueAccess } from './issue-access.ts'

/** Lifetime of a session and its refresh tokens (specification, "Limits"); a refresh does not extend it. */
const refreshSeconds = 30 * 86_400
const maxUserAgent = 256
const prunedAfterMs = 86_400_000

export type SignIn = {
  username: string
  role: 'admin' | 'operator'
  /** How the person signed in: `password`, `device`, `oidc`. */
  via: string
  requestId: string
  /** Receives the refresh cookie. */
  ctx: Context
  /** For a sign-in at the identity provider: its refresh token, sealed; null if it gave none. */
  provider?: { token: Buffer | null }
  /** When the person proved who they are, if not now. */
  authenticatedAt?: Date
  /** What else the sign-in did. */
  besides?: readonly UserEvent[]
  /** Runs in the transaction that opens the session; refuses by throwing. */
  alongside?: (tx: Transaction) => Promise<void>
}

/** `expires_in` in seconds. */
export type OpenedSession = { sid: string; token: string; expires_in: number }

/** Opens a session for an authenticated person, and appends `user.login` to their stream. */
export async function openSession(deps: Deps, signIn: SignIn): Promise<OpenedSession> {
  const { username, role, via, requestId, ctx } = signIn
  const now = deps.now()
  const sid = deps.newId('ses')
  const refresh = createRefreshToken()
  const lifetimeSeconds = lifetimeOf(signIn, deps.config)
  const expires_at = new Date(now.getTime() + lifetimeSeconds * 1000)
  const user_agent = ctx.get('user-agent').slice(0, maxUserAgent) || null
  const cause = { actor: { type: 'user' as const, id: username, via }, requestId }
  await commit(deps, cause, userAt(username), {
    // A sign-in does not depend on earlier ones.
    decide: (): UserEvent[] => [
      { type: 'user.login', data: { username, sid, via } },
      ...(signIn.besides ?? []),
    ],
    async alongside(tx) {
      await signIn.alongside?.(tx)
      await pruneSessions(tx, now)
      await storeSession(tx, {
        username,
        sid,
        via,
        now,
        expires_at,
        refresh,
        user_agent,
        provider: signIn.provider,
        authenticated_at: signIn.authenticatedAt ?? now,
      })
    },
  })
  setRefreshCookie({ ctx, baseUrl: deps.baseUrl() }, refresh, lifetimeSeconds)
  return { sid, ...issueAccess(deps, { username, role, sid, expires_at }, now) }
}

/** In seconds. With an identity provider, a session about which it cannot be asked is shorter. */
function lifetimeOf({ provider }: SignIn, { oidc }: CommandConfig): number {
  const mayAsk = oidc === null || (provider !== undefined && provider.token !== null)
  return mayAsk ? refreshSeconds : Math.min(refreshSeconds, oidc.sessionHours * 3600)
}

type NewSession = {
  username: string
  sid: string
  via: string
  now: Date
  expires_at: Date
  refresh: string
  user_agent: string | null
  provider: SignIn['provider']
  authenticated_at: Date
}

/** Deletes a few long-ended sessions at each sign-in; concurrent sign-ins skip each other's rows. */
async function pruneSessions(tx: Transaction, now: Date): Promise<void> {
  await tx.query(
    `delete from auth.session where sid in
       (select sid from auth.session where expires_at < $1 limit 100 for update skip locked)`,
    [new Date(now.getTime() - prunedAfterMs)],
  )
}

async function storeSession(tx: Transaction, session: NewSession): Promise<void> {
  const { username, sid, via, now, expires_at, refresh, user_agent, provider } = session
  await tx.query(
    `insert into auth.session
       (sid, username, via, created_at, expires_at, user_agent, provider_token, confirmed_at,
        authenticated_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [
      sid,
      username,
      via,
      now,
      expires_at,
      user_agent,
      provider?.token ?? null,
      provider ? now : null,
      session.authenticated_at,
    ],
  )
  await tx.query(
    'insert into auth.refresh_token (secret_sha256, sid, created_at, expires_at) values ($1, $2, $3, $4)',
    [sha256(refresh), sid, now, expires_at],
  )
  await tx.query('update auth.person set last_login_at = $2 where username = $1', [username, now])
}
