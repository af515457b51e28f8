import type { ExecutionContext } from 'ava'
import type { Pool } from 'pg'
import { createPasswords } from '../../auth/passwords.ts'
import { sessionRoutes } from '../../command-api/sessions/routes.ts'
import { createReads } from '../../query-api/reads.ts'
import { sessionRoutes as sessionQueries } from '../../query-api/sessions/routes.ts'
import { database } from '../servers/postgres.ts'
import { serve, stageAt } from '../servers/stage.ts'

export type Answer = { status: number; headers: Headers; body: Record<string, unknown> }
export type Signed = { token: string; cookie: string }

export type SessionStage = {
  pool: Pool
  /** Moves what the stage thinks the time is; it stands still otherwise. */
  later(seconds: number): void
  /** A further session of the one person there is, an admin. */
  signIn(): Promise<Signed>
  /** Refreshes with the refresh token of this cookie (`name=token`). */
  refresh(cookie: string, headers?: Record<string, string>): Promise<Answer>
  isLive(token: string): Promise<boolean>
  demote(): Promise<void>
}

export const username = 'alice'
const password = 'a person of the tests'

/** The routes of sessions; two servers share a database and take turns. */
export async function stage(
  t: ExecutionContext,
  {
    env = {},
    headers = {},
  }: { env?: Record<string, string>; headers?: Record<string, string> } = {},
): Promise<SessionStage> {
  const { pool } = await database(t)
  let nowMs = Date.now()
  const common = await stageAt(t, pool, () => new Date(nowMs), env)
  const { deps } = common
  const passwords = await createPasswords()
  await pool.query(
    `insert into auth.person (username, role, password_hash, created_at) values ($1, 'admin', $2, $3)`,
    [username, await passwords.hash(password), deps.now()],
  )
  const signIn = { accessTokenHours: 8, baseUrl: deps.baseUrl, providerName: null }
  const figures = { unread_notifications: async () => 0 }
  const routes = [
    ...sessionRoutes(deps, passwords),
    ...sessionQueries({
      reads: createReads({ pool, role: null }),
      pool,
      now: deps.now,
      signIn,
      figures,
    }),
  ]
  const urls = await Promise.all([serve(t, common, routes), serve(t, common, routes)])
  let calls = 0
  const call = async (
    method: string,
    path: string,
    more: Record<string, string>,
    body?: object,
  ) => {
    const response = await fetch(`${urls[calls++ % urls.length]}${path}`, {
      method,
      headers: {
        connection: 'close',
        ...(body && { 'content-type': 'application/json' }),
        ...headers,
        ...more,
      },
      ...(body && { body: JSON.stringify(body) }),
    })
    const answer = (await response.json()) as Answer['body']
    return { status: response.status, headers: response.headers, body: answer }
  }
  return {
    pool,
    later(seconds) {
      nowMs += seconds * 1000
    },
    async signIn() {
      const reply = await call('POST', '/api/auth/login', {}, { username, password })
      return { token: String(reply.body.token), cookie: cookieOf(reply) }
    },
    refresh: (cookie, more) => call('POST', '/api/auth/refresh', { cookie, ...more }),
    async isLive(token) {
      const authorization = `Bearer ${token}`
      const { status } = await call('GET', '/api/auth/sessions', { authorization })
      t.true(status === 200 || status === 401, String(status))
      return status === 200
    },
    async demote() {
      await pool.query(`update auth.person set role = 'operator'`)
      deps.accessChanged(username)
    },
  }
}

/** The cookie an answer sets, as `name=value`. */
export const cookieOf = ({ headers }: Pick<Answer, 'headers'>): string =>
  headers.getSetCookie()[0]?.split(';')[0] ?? ''
