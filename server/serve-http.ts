import type { Context } from 'koa'
import type { Pool } from 'pg'
import { authenticator } from '../auth/authenticate.ts'
import type { Caller } from '../auth/caller.ts'
import {
  type MaintenanceSwitch,
  type MaintenanceWatch,
  watchMaintenance,
} from '../auth/maintenance.ts'
import type { Passwords } from '../auth/passwords.ts'
import type { Route } from '../auth/route.ts'
import { commandRoutes } from '../command-api/slices.ts'
import { type Config, oidcOf } from '../platform/config.ts'
import { listen } from '../platform/http/server.ts'
import { httpShell } from '../platform/http/shell.ts'
import { createPool } from '../platform/postgres/pool.ts'
import { type Check, checkAll } from '../platform/readiness.ts'
import { Refusal } from '../platform/refusal.ts'
import { auditReader } from '../query-api/audit/reader.ts'
import { docsRoute } from '../query-api/docs.ts'
import { generalRoutes } from '../query-api/general.ts'
import { createReads } from '../query-api/reads.ts'
import { queryRoutes, type ReadTables } from '../query-api/slices.ts'
import { createStreams, type OpenStream } from '../query-api/sse.ts'
import { createWaiter, projectionProgress } from '../query-api/wait.ts'
import { apiDocument } from './api-document.ts'
import type { Parts } from './assemble.ts'

/** Answers while the rest deliberately does not (specification, "Errors", 503). */
const alwaysServed = new Set(['/api/version', '/healthz', '/api/readyz'])
/** Besides: what it takes to end maintenance. */
const servedInMaintenance = (config: Config): ReadonlySet<string> => {
  const signIn = oidcOf(config)
    ? ['/api/auth/oidc/login', '/api/auth/oidc/callback', '/api/auth/refresh']
    : ['/api/auth/login']
  return new Set([...signIn, '/api/admin/maintenance'])
}
/** How soon it is worth asking again during maintenance, in seconds. */
const maintenanceRetrySeconds = 30

export type Serving = { port: number; routes: readonly Route[] }

/** Puts the routes of this process's roles behind one listener; answers its port and the routes. */
export async function serveHttp(parts: Parts, passwords: Passwords): Promise<Serving> {
  const { deps, signals, logger, readPool } = parts
  const authenticate = authenticator({
    pool: deps.pool,
    keys: deps.keys,
    now: deps.now,
    metricsToken: parts.config.metricsToken,
    baseUrl: deps.baseUrl,
    onAccessChanged: signals.subscribeAccess,
  })
  const progress = () => projectionProgress(readPool)
  const streams = createStreams({ signals, logger, authenticate, progress })
  const maintenance = await openMaintenance(parts, streams.endAll)
  const routes = routesOf(parts, { passwords, openStream: streams.open, maintenance })
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
  // After the listener, so that streams end before it: it waits for what is open.
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
  signals.subscribeMaintenance(() => void opened.refresh().catch(() => {}))
  return life.owns('maintenance', opened, watch => watch.stop())
}

/** What this read must show: what the caller asks for, or else what they themselves just wrote. */
function positionsFor(ctx: Context, caller: Caller, parts: Parts): string[] {
  const asked = ctx.get('forge-wait-for')
  if (asked !== '')
    return asked
      .split(',')
      .map(position => position.trim())
      .slice(0, 16)
  return caller.kind === 'person' ? parts.deps.recentWrites.of(caller.username) : []
}

type Ports = { passwords: Passwords; openStream: OpenStream; maintenance: MaintenanceWatch }

function routesOf(parts: Parts, { passwords, openStream, maintenance }: Ports): Route[] {
  const { config, telemetry, version, signals } = parts
  const routes: Route[] = []
  const document = () => apiDocument(routes, version)
  routes.push(
    ...generalRoutes({ version, readiness: () => readiness(parts), telemetry, openApi: document }),
    docsRoute(document),
  )
  if (config.roles.includes('command-api'))
    routes.push(
      ...commandRoutes(parts.deps, {
        passwords,
        projections: parts.projectionAdmin,
        catalogue: parts.catalogue,
        wake: () => parts.jobsChanged.tell(),
        maintenanceSwitched: async () => {
          signals.publishMaintenance()
          await maintenance.refresh()
        },
      }),
    )
  if (config.roles.includes('query-api')) {
    const reads = createReads<ReadTables>(parts.peoplesReads)
    const { pool, now, baseUrl } = parts.deps
    const { catalogue } = parts
    const audit = auditReader(openAuditPool(parts))
    const providerName = oidcOf(config)?.name ?? null
    const signIn = { accessTokenHours: config.jwtHours, baseUrl, providerName }
    routes.push(...queryRoutes({ reads, pool, now, openStream, catalogue, audit, signIn }))
  }
  return routes
}

/** Few and short of patience: whoever reads the whole record of the commands must not hold them up. */
function openAuditPool({ life, databaseUrl }: Parts): Pool {
  const options = { max: 3, applicationName: 'forge audit', statementTimeoutMs: 10_000 }
  return life.owns('pool audit', createPool(databaseUrl, options), pool => pool.end())
}

async function readiness(parts: Parts) {
  const result = await checkAll({
    postgres: async () => {
      await parts.deps.pool.query('select 1')
      return { ok: true }
    },
    log: async () => {
      await parts.log.end(parts.topics.decisions.name)
      return { ok: true }
    },
    ...(parts.runners.length > 0 && { projector: () => projectorCheck(parts) }),
  })
  return parts.isDraining() ? { ...result, status: 'draining' as const } : result
}

async function projectorCheck({ runners }: Parts): Promise<Check> {
  const statuses = runners.map(runner => runner.status())
  const halted = statuses.filter(status => status.halted !== null)
  return {
    ok: halted.length === 0,
    projections: statuses.map(({ projection, halted: why, checkpoints }) => ({
      projection,
      halted: why,
      checkpoints: checkpoints.map(String),
    })),
  }
}
