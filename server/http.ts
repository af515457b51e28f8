import type { Context } from 'koa'
import { authenticator } from '../auth/authenticate.ts'
import type { Caller } from '../auth/caller.ts'
import {
  type MaintenanceSwitch,
  type MaintenanceWatch,
  watchMaintenance,
} from '../auth/maintenance.ts'
import { oidcOf } from '../auth/oidc-settings.ts'
import type { Route } from '../auth/route.ts'
import { listen } from '../platform/http/server.ts'
import { httpShell } from '../platform/http/shell.ts'
import { Refusal } from '../platform/refusal.ts'
import { createStreams } from '../query-api/sse.ts'
import { createWaiter, projectionProgress } from '../query-api/wait.ts'
import type { Config } from './config.ts'
import type { Parts } from './parts.ts'
import { routesOf } from './routes.ts'

/** Served even while all other routes are refused (specification, "Errors", 503). */
const alwaysServed = new Set(['/api/version', '/healthz', '/api/readyz'])
/** Also served in maintenance: the routes needed to end it. */
const servedInMaintenance = (config: Config): ReadonlySet<string> => {
  const signIn = oidcOf(config)
    ? ['/api/auth/oidc/login', '/api/auth/oidc/callback', '/api/auth/refresh']
    : ['/api/auth/login']
  return new Set([...signIn, '/api/admin/maintenance'])
}
/** `Retry-After` during maintenance, in seconds. */
const maintenanceRetrySeconds = 30

export type Serving = { port: number; routes: readonly Route[] }

/** Serves the routes of this process's roles on one listener; returns its port and the routes. */
export async function serveHttp(parts: Parts): Promise<Serving> {
  const { deps, signals, logger, readPool } = parts
  const authenticate = authenticator({
    pool: deps.pool,
    keys: deps.keys,
    now: deps.now,
    metricsToken: parts.config.metricsToken,
    baseUrl: deps.baseUrl,
    onAccessChanged: listener => signals.subscribe('access', ({ username }) => listener(username)),
  })
  const progress = () => projectionProgress(readPool)
  const streams = createStreams({ signals, logger, authenticate, progress })
  const maintenance = await openMaintenance(parts, streams.endAll)
  const routes = routesOf(parts, { openStream: streams.open, maintenance })
  const servedMeanwhile = servedInMaintenance(parts.config)
  const waitFor = createWaiter(readPool, signals)
  const app = httpShell({
    routes,
    authenticate: (ctx, route) => authenticate(ctx, route.credential),
    log: parts.logger,
    metrics: parts.telemetry.http,
    trustedProxyHops: parts.config.trustedProxyHops,
    admit: route =>
      admit(route, parts.isDraining(), { ...maintenance.current(), served: servedMeanwhile }),
    count: parts.rateLimits.count,
    async before(ctx, route, caller) {
      if (route.method !== 'GET') return
      const began = performance.now()
      if (!(await waitFor(positionsFor(ctx, caller, parts))))
        ctx.set('Forge-Lag', String(Math.round(performance.now() - began)))
    },
  })
  const server = await listen(app, parts.config.host, parts.config.port)
  parts.life.owns('http', server, listening => listening.close())
  // Registered after the listener and so stopped before it, because it waits for open streams.
  parts.life.owns('streams', streams, opened => opened.close())
  return { port: server.port, routes }
}

function admit(
  { path }: Route,
  isDraining: boolean,
  { enabled, message, served }: MaintenanceSwitch & { served: ReadonlySet<string> },
): void {
  if (alwaysServed.has(path)) return
  if (isDraining)
    throw new Refusal('unavailable', 'The server is stopping; try again', { retryAfterSeconds: 2 })
  if (enabled && !served.has(path))
    throw new Refusal('unavailable', message ?? 'The server is in maintenance', {
      code: 'maintenance',
      retryAfterSeconds: maintenanceRetrySeconds,
    })
}

async function openMaintenance(parts: Parts, onBegin: () => void): Promise<MaintenanceWatch> {
  const { logger, life, signals, deps } = parts
  const opened = await watchMaintenance({ pool: deps.pool, logger, onBegin })
  signals.subscribe('maintenance', () => void opened.refresh().catch(() => {}))
  return life.owns('maintenance', opened, watch => watch.stop())
}

/** The writes that a read must show: those the caller names, else the caller's own recent ones. */
function positionsFor(ctx: Context, caller: Caller, parts: Parts): string[] {
  const asked = ctx.get('forge-wait-for')
  if (asked !== '')
    return asked
      .split(',')
      .map(position => position.trim())
      .slice(0, 16)
  return caller.kind === 'person' ? parts.deps.recentWrites.of(caller.username) : []
}
