import { ulid } from 'ulid'
import { type UserEvent, userStream } from '../../events/users.ts'
import { signAccessToken } from '../../platform/auth/access-token.ts'
import { sha256 } from '../../platform/auth/opaque-token.ts'
import type { Passwords } from '../../platform/auth/passwords.ts'
import { type Route, route } from '../../platform/http/route.ts'
import { Refusal } from '../../platform/refusal.ts'
import { loginInput, loginReply } from '../../schemas/sessions.ts'
import type { Deps } from '../deps.ts'
import { type Aggregate, handle } from '../handle.ts'
import { createRefreshToken, setRefreshCookie } from './refresh-cookie.ts'

const refreshDays = 30

type PersonRow = { role: 'admin' | 'operator'; password_hash: string | null; disabled: boolean }

/** Nothing about a sign-in depends on earlier ones. */
const sessionLog: Aggregate<null, UserEvent> = { initial: null, evolve: () => null }

export const sessionRoutes = (deps: Deps, passwords: Passwords): Route[] => [
  route({
    method: 'POST',
    path: '/api/auth/login',
    credential: 'none',
    tag: 'auth',
    summary: 'Sign in with a password',
    body: loginInput,
    bodyLimitBytes: 16 * 1024,
    response: loginReply,
    refusals: ['unauthenticated', 'rate_limited'],
    async handle({ body, requestId, ctx }) {
      const { username } = body
      const person = await findPerson(deps, username)
      const matches = await passwords.matches(body.password, person?.password_hash ?? null)
      if (!matches || !person || person.disabled)
        throw new Refusal('unauthenticated', 'Username or password is wrong')
      const now = deps.now()
      const sid = deps.newId('ses')
      const refresh = createRefreshToken()
      await handle(
        deps.store,
        {
          stream: userStream(username),
          aggregate: sessionLog,
          stamp: { actor: { type: 'user', id: username, via: 'password' }, requestId, now },
          reserve: tx => storeSession(tx, { username, sid, now, refresh }),
        },
        (): UserEvent[] => [{ type: 'user.login', data: { username, sid, via: 'password' } }],
      )
      setRefreshCookie(ctx, refresh, refreshDays)
      const iat = Math.floor(now.getTime() / 1000)
      const claims = { sub: username, role: person.role, sid, jti: ulid(), iat }
      return {
        token: signAccessToken(deps.keys, { ...claims, exp: iat + deps.config.jwtHours * 3600 }),
        user: { username, role: person.role },
      }
    },
  }),
]

async function findPerson(deps: Deps, username: string): Promise<PersonRow | undefined> {
  const { rows } = await deps.pool.query<PersonRow>(
    'select role, password_hash, disabled from auth.person where username = $1',
    [username],
  )
  return rows[0]
}

type NewSession = { username: string; sid: string; now: Date; refresh: string }

async function storeSession(
  tx: Parameters<Deps['store']['append']>[0],
  { username, sid, now, refresh }: NewSession,
): Promise<void> {
  const expiresAt = new Date(now.getTime() + refreshDays * 86_400_000)
  await tx.query(
    `insert into auth.session (sid, username, via, created_at, expires_at) values ($1, $2, 'password', $3, $4)`,
    [sid, username, now, expiresAt],
  )
  await tx.query(
    'insert into auth.refresh_token (secret_sha256, sid, created_at, expires_at) values ($1, $2, $3, $4)',
    [sha256(refresh), sid, now, expiresAt],
  )
  await tx.query('update auth.person set last_login_at = $2 where username = $1', [username, now])
}
