import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'
import type { Pool } from 'pg'
import { pino } from 'pino'
import type { Deps } from '../../command-api/deps.ts'
import { deviceRoutes } from '../../command-api/devices/routes.ts'
import { postgresEventStore } from '../../command-api/event-store.ts'
import { createFactLane } from '../../command-api/facts.ts'
import { createReports } from '../../command-api/reports.ts'
import { openSession } from '../../command-api/sessions/open-session.ts'
import { decisionEvents } from '../../events/all.ts'
import { authenticator } from '../../platform/auth/authenticate.ts'
import { loadKeys } from '../../platform/auth/keys.ts'
import { readConfig } from '../../platform/config.ts'
import { listen } from '../../platform/http/server.ts'
import { httpShell } from '../../platform/http/shell.ts'
import { createMemoryLog } from '../../platform/log/memory.ts'
import { topicsOf } from '../../platform/log/topics.ts'
import { createRateLimits } from '../../platform/rate-limits.ts'
import { recentWrites } from '../../platform/recent-writes.ts'
import { telemetry } from '../../platform/telemetry.ts'
import { eventId, prefixedId } from '../../platform/time.ts'
import { deviceRoutes as deviceQueries } from '../../query-api/devices/routes.ts'
import { database } from '../servers/postgres.ts'

export type Answer = { status: number; headers: Headers; body: Record<string, unknown> }

export type Stage = {
  pool: Pool
  /** What the stage thinks the time is; moves only by `later`. */
  later(seconds: number): void
  /** A new person, or a further session of one; `end` revokes it. */
  signIn(username: string): Promise<{ token: string; end(): Promise<void> }>
  call(method: 'GET' | 'POST', path: string, options?: CallOptions): Promise<Answer>
}
type CallOptions = { token?: string; body?: object; headers?: Record<string, string> }

/**
 * The routes of the device flow on a real database, at a time that stands still. Two servers share the
 * database and take turns, so that nothing holds which one of them keeps to itself.
 */
export async function stage(t: ExecutionContext): Promise<Stage> {
  const { pool } = await database(t)
  let nowMs = Date.parse('2026-11-20T19:26:53Z')
  const deps = await depsAt(t, pool, () => new Date(nowMs))
  const { now } = deps
  const ports = await Promise.all([serve(t, deps), serve(t, deps)])
  let calls = 0
  return {
    pool,
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
      const { token, sid } = await openSession(deps, { ...signIn, ctx: null })
      const end = async () => {
        await pool.query('update auth.session set revoked_at = $2 where sid = $1', [sid, now()])
      }
      return { token, end }
    },
    async call(method, path, { token, body, headers } = {}) {
      const port = ports[calls++ % ports.length]
      const response = await fetch(`http://127.0.0.1:${port}${path}`, {
        method,
        headers: {
          connection: 'close',
          ...(token && { authorization: `Bearer ${token}` }),
          ...(body && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body && { body: JSON.stringify(body) }),
      })
      const answer = (await response.json()) as Answer['body']
      return { status: response.status, headers: response.headers, body: answer }
    },
  }
}

async function serve(t: ExecutionContext, deps: Deps): Promise<number> {
  const { pool, keys, now, baseUrl, logger } = deps
  const app = httpShell({
    routes: [
      ...deviceRoutes(deps, signIn => openSession(deps, { ...signIn, via: 'device', ctx: null })),
      ...deviceQueries(pool, now),
    ],
    authenticate: authenticator({
      pool,
      keys,
      now,
      metricsToken: null,
      baseUrl,
      onAccessChanged: () => {},
    }),
    log: logger,
    metrics: telemetry().http,
    trustedProxyHops: 0,
    admit: () => {},
    count: createRateLimits({ pool, redis: null, prefix: 'test', logger }).count,
  })
  const server = await listen(app, '127.0.0.1', 0)
  t.teardown(() => server.close())
  return server.port
}

async function depsAt(t: ExecutionContext, pool: Pool, now: () => Date): Promise<Deps> {
  const dataDir = await mkdtemp(join(tmpdir(), 'forge-devices-'))
  t.teardown(() => rm(dataDir, { recursive: true }))
  const topics = topicsOf('test')
  return {
    store: postgresEventStore({
      pool,
      definitions: decisionEvents,
      newEventId: eventId,
      committed: () => {},
    }),
    pool,
    now,
    newId: prefixedId,
    config: readConfig({}),
    keys: await loadKeys(dataDir),
    logger: pino({ level: 'silent' }),
    recentWrites: recentWrites(),
    reports: createReports(pool, now),
    facts: createFactLane(createMemoryLog(Object.values(topics))),
    topics,
    newEventId: eventId,
    ingestedPoints: () => {},
    accessChanged: () => {},
    baseUrl: () => 'http://forge.test',
  }
}
