import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type { ExecutionContext } from 'ava'
import Koa from 'koa'
import type { Pool } from 'pg'
import type { Deps } from '../../command-api/deps.ts'
import { deviceRoutes } from '../../command-api/devices/routes.ts'
import { openSession } from '../../command-api/sessions/open-session.ts'
import { deviceRoutes as deviceQueries } from '../../query-api/devices/routes.ts'
import { database } from '../servers/postgres.ts'
import { type CallInTurns, routeParts, serveInTurns } from '../servers/serve-routes.ts'

export type ServedDevices = {
  pool: Pool
  /** Advances the clock, which otherwise stands still. */
  later(seconds: number): void
  /** Signs in a new or known person; `end` revokes the session. */
  signIn(username: string): Promise<{ token: string; end(): Promise<void> }>
  call: CallInTurns
  deps: Deps
  /** As after a commit that changed a person's access. */
  accessChanged(username: string): void
}

/** The routes of the device flow on a real database, with a stopped clock. */
export async function serveDevices(
  t: ExecutionContext,
  env: Record<string, string> = {},
): Promise<ServedDevices> {
  const { pool } = await database(t)
  let nowMs = Date.parse('2026-11-20T19:26:53Z')
  const parts = await routeParts(t, pool, () => new Date(nowMs), env)
  const { deps } = parts
  const { now } = deps
  const call = await serveInTurns(t, parts, [
    ...deviceRoutes(deps, signIn => openSession(deps, { ...signIn, via: 'device' })),
    ...deviceQueries(pool, now),
  ])
  return {
    pool,
    deps,
    call,
    accessChanged: username => parts.signals.publish('access', { username }),
    later(seconds) {
      nowMs += seconds * 1000
    },
    async signIn(username) {
      await pool.query(
        `insert into auth.person (username, role, created_at) values ($1, 'operator', $2)
         on conflict do nothing`,
        [username, now()],
      )
      const signIn = { username, role: 'operator', via: 'test', requestId: 'test' } as const
      const { token, sid } = await openSession(deps, { ...signIn, ctx: unsentContext() })
      const end = async () => {
        await pool.query('update auth.session set revoked_at = $2 where sid = $1', [sid, now()])
      }
      return { token, end }
    },
  }
}

/** A request that nobody sent, whose cookies nobody receives. */
function unsentContext() {
  const request = new IncomingMessage(new Socket())
  return new Koa().createContext(request, new ServerResponse(request))
}
