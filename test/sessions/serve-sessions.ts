import type { ExecutionContext } from 'ava'
import type { Pool } from 'pg'
import { createPasswords } from '../../auth/passwords.ts'
import type { Route } from '../../auth/route.ts'
import { secondFactorPolicy } from '../../auth/second-factor.ts'
import type { Deps } from '../../command-api/deps.ts'
import { passkeyStep } from '../../command-api/passkeys/second-step.ts'
import { checkSecondFactor } from '../../command-api/second-factors/check.ts'
import { secondFactorRoutes } from '../../command-api/second-factors/routes.ts'
import { confirmPassword } from '../../command-api/sessions/confirm-password.ts'
import {
  createPasswordGuard,
  type PasswordGuard,
} from '../../command-api/sessions/password-guard.ts'
import { sessionRoutes } from '../../command-api/sessions/routes.ts'
import { createReads } from '../../query-api/reading/reads.ts'
import { sessionRoutes as sessionQueries } from '../../query-api/sessions/routes.ts'
import type { Reply } from '../servers/api.ts'
import { database } from '../servers/postgres.ts'
import { type CallInTurns, routeParts, serveInTurns } from '../servers/serve-routes.ts'

export type Signed = { token: string; cookie: string }

export type ServedSessions = {
  pool: Pool
  deps: Deps
  call: CallInTurns
  passwordGuard: PasswordGuard
  /** Advances the clock, which otherwise stands still. */
  later(seconds: number): void
  /** A new session of the only person, an admin. */
  signIn(): Promise<Signed>
  /** Refreshes with the refresh token of this cookie (`name=token`). */
  refresh(cookie: string, headers?: Record<string, string>): Promise<Reply<Record<string, unknown>>>
  isLive(token: string): Promise<boolean>
  demote(): Promise<void>
}

export const username = 'alice'
export const password = 'a person of the tests'

/** The routes of sessions and others; `headers` go with every refresh and sign-in. */
export async function serveSessions(
  t: ExecutionContext,
  {
    env = {},
    headers = {},
    routes = [],
  }: {
    env?: Record<string, string>
    headers?: Record<string, string>
    routes?: readonly Route[]
  } = {},
): Promise<ServedSessions> {
  const { pool } = await database(t)
  let nowMs = Date.now()
  const common = await routeParts(t, pool, () => new Date(nowMs), env)
  const { deps } = common
  const passwords = await createPasswords()
  await pool.query(
    `insert into auth.person (username, role, password_hash, created_at) values ($1, 'admin', $2, $3)`,
    [username, await passwords.hash(password), deps.now()],
  )
  const { jwtHours: accessTokenHours, sessionIdleHours } = common.config
  const signIn = {
    accessTokenHours,
    sessionIdleHours,
    baseUrl: deps.baseUrl,
    providerName: null,
    secondFactor: secondFactorPolicy(common.config),
  }
  const figures = { unread_notifications: async () => 0, teams: async () => [] }
  const passwordGuard = createPasswordGuard(deps)
  const given = { passwords, passwordGuard }
  const call = await serveInTurns(t, common, [
    ...routes,
    ...sessionRoutes(deps, {
      ...given,
      confirm: async () => {},
      checkSecondFactor: (asked, factor) =>
        checkSecondFactor(deps, passkeyStep(deps), asked, factor),
    }),
    ...secondFactorRoutes(deps, {
      passwordGuard,
      confirmPassword: of => confirmPassword(deps, given, of),
    }),
    ...sessionQueries({
      reads: createReads({ pool, role: null }),
      pool,
      now: deps.now,
      signIn,
      figures,
    }),
  ])
  return {
    pool,
    deps,
    call,
    passwordGuard,
    later(seconds) {
      nowMs += seconds * 1000
    },
    async signIn() {
      const reply = await call<{ token: string }>('POST', '/api/auth/login', {
        headers,
        body: { username, password },
      })
      return { token: reply.body.token, cookie: cookieOf(reply) }
    },
    refresh: (cookie, more) =>
      call('POST', '/api/auth/refresh', { headers: { ...headers, cookie, ...more } }),
    async isLive(token) {
      const { status } = await call('GET', '/api/auth/sessions', { token })
      t.true(status === 200 || status === 401, String(status))
      return status === 200
    },
    async demote() {
      await pool.query(`update auth.person set role = 'operator'`)
      common.signals.publish('access', { username })
    },
  }
}

/** The cookie that a response sets, as `name=value`. */
export const cookieOf = ({ headers }: Pick<Reply<Record<string, unknown>>, 'headers'>): string =>
  headers.getSetCookie()[0]?.split(';')[0] ?? ''
