import type { Context } from 'koa'
import { ulid } from 'ulid'
import { type UserEvent, userStream } from '../../events/users.ts'
import { signAccessToken } from '../../platform/auth/access-token.ts'
import { sha256 } from '../../platform/auth/opaque-token.ts'
import { createRefreshToken, setRefreshCookie } from '../../platform/auth/refresh-cookie.ts'
import type { Deps } from '../deps.ts'
import type { Transaction } from '../event-store.ts'
import { type Aggregate, handle } from '../handle.ts'

/** Life of a session and its refresh tokens (specification, "Limits"); refreshing never makes it longer. */
const refreshDays = 30

export type SignIn = {
  username: string
  role: 'admin' | 'operator'
  /** By which way the person came in: `password`, `device`, `oidc`. */
  via: string
  requestId: string
  /** Takes the refresh cookie; null where the caller is no browser (device flow: access token only). */
  ctx: Context | null
  /** What else belongs in the transaction that opens the session; refuses by throwing. */
  reserve?: (tx: Transaction) => Promise<void>
}

/** `expires_in` in seconds. */
export type OpenedSession = { sid: string; token: string; expires_in: number }

/** Nothing about a sign-in depends on earlier ones. */
const signIns: Aggregate<null, UserEvent> = { initial: null, evolve: () => null }

/** Opens a session for a person who has proved who they are, and leaves `user.login` in their stream. */
export async function openSession(deps: Deps, signIn: SignIn): Promise<OpenedSession> {
  const { username, role, via, requestId, ctx } = signIn
  const now = deps.now()
  const sid = deps.newId('ses')
  const refresh = ctx === null ? null : createRefreshToken()
  await handle(
    deps.store,
    {
      stream: userStream(username),
      aggregate: signIns,
      stamp: { actor: { type: 'user', id: username, via }, requestId, now },
      reserve: async tx => {
        await signIn.reserve?.(tx)
        await storeSession(tx, { username, sid, via, now, refresh })
      },
    },
    (): UserEvent[] => [{ type: 'user.login', data: { username, sid, via } }],
  )
  if (ctx !== null && refresh !== null) setRefreshCookie(ctx, refresh, refreshDays * 86_400)
  const expires_in = deps.config.jwtHours * 3600
  const iat = Math.floor(now.getTime() / 1000)
  const claims = { sub: username, role, sid, jti: ulid(), iat, exp: iat + expires_in }
  return { sid, token: signAccessToken(deps.keys, claims), expires_in }
}

type NewSession = { username: string; sid: string; via: string; now: Date; refresh: string | null }

async function storeSession(
  tx: Transaction,
  { username, sid, via, now, refresh }: NewSession,
): Promise<void> {
  const expiresAt = new Date(now.getTime() + refreshDays * 86_400_000)
  await tx.query(
    'insert into auth.session (sid, username, via, created_at, expires_at) values ($1, $2, $3, $4, $5)',
    [sid, username, via, now, expiresAt],
  )
  if (refresh !== null)
    await tx.query(
      'insert into auth.refresh_token (secret_sha256, sid, created_at, expires_at) values ($1, $2, $3, $4)',
      [sha256(refresh), sid, now, expiresAt],
    )
  await tx.query('update auth.person set last_login_at = $2 where username = $1', [username, now])
}
