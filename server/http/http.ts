import type { Context } from 'koa'
import { authenticator } from '../../auth/authenticate.ts'
import type { Caller, Person, RunCaller } from '../../auth/caller.ts'
import { credentialKind } from '../../auth/credential-kind.ts'
import {
  type MaintenanceSwitch,
  type MaintenanceWatch,
  watchMaintenance,
} from '../../auth/maintenance.ts'
import { oidcOf } from '../../auth/oidc-settings.ts'
import { readPositionKey } from '../../auth/position-key.ts'
import type { Route } from '../../auth/route.ts'
import { secondFactorPolicy } from '../../auth/second-factor.ts'
import { createPasswordGuard } from '../../command-api/sessions/password-guard.ts'
import type { Gateway } from '../../gateway/gateway.ts'
import { basePathOf } from '../../platform/http/base-path.ts'
import type { HttpServer } from '../../platform/http/server.ts'
import { httpShell } from '../../platform/http/shell.ts'
import { type PositionSeal, positionSeal } from '../../platform/position.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { Assets } from '../../query-api/pages/assets.ts'
import { sendPage } from '../../query-api/pages/routes.ts'
import { recentWrites, writesOfRun } from '../../query-api/reading/recent-writes.ts'
import { createWaiter } from '../../query-api/reading/wait.ts'
import { projectionProgress } from '../../query-api/sse/progress.ts'
import { createStreams } from '../../query-api/sse/sse.ts'
import { isHubPath } from '../../schemas/hub-facade.ts'
import { isMlflowPath } from '../../schemas/mlflow.ts'
import { isHttps } from '../exposure.ts'
import type { Config } from '../settings/config.ts'
import { speakAsHub } from './hub-refusals.ts'
import { rephraseForMlflow } from './mlflow-refusals.ts'
import type { Parts } from './parts.ts'
import { createRecentReports } from './recent-reports.ts'
import { routesOf } from './routes.ts'

/** Served even while all other routes are refused (specification, "Errors", 503). */
const alwaysServed = new Set(['/api/version', '/healthz', '/api/readyz'])
/** Also served in maintenance: the routes needed to end it. */
const servedInMaintenance = (config: Config): ReadonlySet<string> => {
  const signIn = oidcOf(config)
    ? ['/api/auth/oidc/login', '/api/auth/oidc/callback', '/api/auth/refresh']
    : ['/api/auth/login', '/api/auth/confirm']
  return new Set([...signIn, '/api/admin/maintenance'])
}
/** Browsers refuse plain http to this host for a year, but not to its subdomains, which may not be ours. */
const strictTransport = { 'Strict-Transport-Security': 'max-age=31536000' }
/** Maximum number of positions that a read may name. */
const maxNamed = 16
/** `Retry-After` during maintenance, in seconds. */
const maintenanceRetrySeconds = 30

/** Serves the routes of this process's roles on this listener; returns them. */
export async function serveHttp(
  parts: Parts,
  listener: HttpServer,
  gateway: Gateway | null,
): Promise<readonly Route[]> {
  const { deps, signals, logger, readPool } = parts
  const authenticate = authenticator({
    pool: deps.pool,
    keys: deps.keys,
    now: deps.now,
    idleHours: parts.config.sessionIdleHours,
    providerName: oidcOf(parts.config)?.name ?? null,
    metricsToken: parts.config.metricsToken,
    baseUrl: deps.baseUrl,
    secondFactor: secondFactorPolicy(parts.config),
    onAccessChanged: listener => signals.subscribe('access', ({ username }) => listener(username)),
  })
  const progress = () => projectionProgress(readPool)
  const streams = createStreams({ signals, logger, authenticate, progress })
  const maintenance = await openMaintenance(parts, streams.endAll)
  const passwordGuard = createPasswordGuard(deps)
  const maySeeDetails = (ctx: Context) =>
    authenticate(ctx, { credential: 'metrics' }).then(
      () => true,
      () => false,
    )
  const routes = routesOf(parts, {
    openStream: streams.open,
    maintenance,
    passwordGuard,
    maySeeDetails,
  })
  const servedMeanwhile = servedInMaintenance(parts.config)
  const positions = await openPositions(parts)
  const basePath = basePathOf(deps.baseUrl())
  const app = httpShell({
    routes,
    authenticate,
    log: parts.logger,
    metrics: parts.telemetry.http,
    trustedProxyHops: parts.config.trustedProxyHops,
    headers: isHttps(parts.config) ? strictTransport : {},
    rephrase: (ctx, next) => speakAsHub(ctx, () => rephraseForMlflow(ctx, next)),
    nameOf: nameOfCaller,
    describe: ctx => ({ credential: credentialKind(ctx) }),
    admit(route) {
      admit(route, parts.isDraining(), { ...maintenance.current(), served: servedMeanwhile })
      if (mayGrow(route)) parts.diskRoom.refuseGrowth()
    },
    count: parts.rateLimits.count,
    elsewhere: ctx => isLost(ctx, routes) && sendLost(ctx, parts.assets),
    before: (ctx, route, caller) => positions.wait(ctx, route, caller),
    after(ctx, caller) {
      positions.seal(ctx, caller)
      linkBelow(ctx, basePath)
    },
  })
  listener.serve(app, gateway?.take, basePath)
  // Closed before the parts its routes use, although it was opened first.
  parts.life.owns('http', listener, listening => listening.close())
  // Registered after the listener and so stopped before it, because it waits for open requests.
  parts.life.owns('streams', streams, opened => opened.close())
  parts.life.owns('held sign-ins', passwordGuard, guard => guard.close())
  return routes
}

/** Whether a browser navigates to a page that does not exist. */
const isLost = (ctx: Context, routes: readonly Route[]): boolean =>
  ['GET', 'HEAD'].includes(ctx.method) &&
  !/^\/(api|assets|\.well-known)\//.test(ctx.path) &&
  ctx.get('accept').includes('text/html') &&
  routes.some(({ path }) => path === '/')

/** Serves the console's page, which shows its own "not found" message. */
function sendLost(ctx: Context, assets: Assets | null): boolean {
  if (assets === null) return false
  sendPage(ctx, assets)
  ctx.status = 404
  return true
}

/** Routes know their paths without the base path, but clients resolve a `Link` against the address that they asked. */
function linkBelow(ctx: Context, basePath: string): void {
  const link = ctx.response.get('Link')
  if (basePath !== '' && link) ctx.set('Link', link.replaceAll('</', `<${basePath}/`))
}

/** Null if the credential is not known yet. */
function nameOfCaller(caller: Caller): string | null {
  if (caller.kind === 'person') return `person ${caller.username}`
  return caller.kind === 'run' ? `token ${caller.tokenId}` : null
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

const mayGrow = ({ method, servedOnFullDisk }: Route): boolean =>
  method !== 'GET' && method !== 'DELETE' && servedOnFullDisk !== true

async function openMaintenance(parts: Parts, onBegin: () => void): Promise<MaintenanceWatch> {
  const { logger, life, signals, deps } = parts
  const opened = await watchMaintenance({ pool: deps.pool, logger, onBegin })
  signals.subscribe('maintenance', () => void opened.refresh().catch(() => {}))
  return life.owns('maintenance', opened, watch => watch.stop())
}

/** Reading one's own writes: `Forge-Position` of a person's writes, and the waits of their reads. */
async function openPositions({ deps, readPool, signals, readWaitMs }: Parts) {
  const seal = positionSeal(await readPositionKey(deps.pool))
  const waitFor = createWaiter(readPool, signals, readWaitMs)
  const writesOf = recentWrites(deps.pool, deps.now)
  const reports = createRecentReports(deps.now)
  const waitForOwn = async (ctx: Context, caller: Person): Promise<void> => {
    const { username } = caller
    const positions = namedBy(ctx, caller, seal) ?? (await writesOf(username))
    await waitAs(ctx, username, [...positions, ...reports.of(username)])
  }
  const waitForRun = async (ctx: Context, { runId }: RunCaller): Promise<void> =>
    waitAs(ctx, runId, [...(await writesOfRun(deps.pool, runId)), ...reports.of(runId)])
  const waitAs = async (ctx: Context, username: string, positions: readonly string[]) => {
    if (positions.length === 0) return
    const began = performance.now()
    const connection = new AbortController()
    ctx.res.once('close', () => connection.abort())
    if (!(await waitFor({ username, positions, gone: connection.signal })))
      ctx.set('Forge-Lag', String(Math.round(performance.now() - began)))
  }
  return {
    /** Null, not a promise, for most requests: reports come by the thousand. */
    wait(ctx: Context, { method, readsOwnWrites }: Route, caller: Caller): Promise<void> | null {
      if (caller.kind === 'person')
        return method === 'GET' || readsOwnWrites ? waitForOwn(ctx, caller) : null
      return readsOwnWrites && caller.kind === 'run' ? waitForRun(ctx, caller) : null
    },
    /** Only people can wait for a position, so only theirs are sealed. */
    seal(ctx: Context, caller: Caller): void {
      if (caller.kind === 'anybody') return
      const position = ctx.response.get('Forge-Position')
      // Undefined at run time, despite Koa's types.
      if (!position) return
      // Other reports come by the thousand, and no read waits for them.
      if (isMlflowPath(ctx.path) || isHubPath(ctx.path)) reports.note(nameOf(caller), position)
      if (caller.kind === 'person') ctx.set('Forge-Position', seal.seal(position, caller.username))
    },
  }
}

const nameOf = (caller: Person | RunCaller) =>
  caller.kind === 'person' ? caller.username : caller.runId

/** The caller's own writes among those named in `Forge-Wait-For`; null if there are none. */
function namedBy(ctx: Context, { username }: Person, seal: PositionSeal): string[] | null {
  const named = ctx.get('forge-wait-for').split(',', maxNamed)
  const own = named.flatMap(sealed => seal.open(sealed.trim(), username) ?? [])
  return own.length === 0 ? null : own
}
