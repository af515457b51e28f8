import { randomUUID } from 'node:crypto'
import Router from '@koa/router'
import Koa, { type Context, type Middleware, type Next } from 'koa'
import type { Logger } from 'pino'
import type { TSchema } from 'typebox'
import { checker, Invalid } from '../../schemas/validate.ts'
import type { RateLimit } from '../rate-limits.ts'
import { Refusal } from '../refusal.ts'
import type { HttpMetrics } from '../telemetry.ts'
import { type BodyOptions, readBytes, readJsonBody } from './body.ts'
import { type BodyRoom, createBodyRoom } from './body-room.ts'
import { type Describe, errorBoundary } from './boundary.ts'
import { clientAddress, clientNetwork } from './client-address.ts'
import { defaultHeaders } from './default-headers.ts'
import { refuseUnstorable } from './json.ts'
import type { AnyRoute, CallerOf, RouteShape } from './route.ts'

export type Shell<Route extends AnyRoute> = {
  routes: readonly Route[]
  /** Returns the caller, or throws `unauthenticated` or `forbidden`. */
  authenticate: (ctx: Context, route: Route) => Promise<CallerOf<Route>>
  log: Logger
  metrics: HttpMetrics
  trustedProxyHops: number
  /** Headers of every response. */
  headers?: Readonly<Record<string, string>>
  describe?: Describe
  /** Throws `unavailable` if the server deliberately does not serve this route, e.g. while it stops. */
  admit: (route: Route) => void
  /** Counts a call of a route that has a `rateLimit`; throws `rate_limited`. */
  count: (limit: RateLimit, client: string) => Promise<void>
  /** Identifies the caller, so that no single one takes all the room for bodies; by default the client's network. */
  nameOf?: (caller: CallerOf<Route>) => string | null
  /** Maximum bytes of all bodies being read; default 64 MiB. */
  bodyRoomBytes?: number
  /** Changes the responses to refusals, e.g. for clients of another API. */
  rephrase?: Middleware
  /** Runs before each handler: e.g. waits until the caller's own writes can be read. */
  before?: (ctx: Context, route: Route, caller: CallerOf<Route>) => Promise<void> | null
  /** Responds to a path that no route has and returns true; false leaves the 404 to the shell. */
  elsewhere?: (ctx: Context) => boolean
  /** Runs after each handler that did not refuse; may change headers. */
  after?: (ctx: Context, caller: CallerOf<Route>) => void
}

const defaultBodyLimit = 1024 * 1024
const requestIdShape = /^[A-Za-z0-9._-]{8,64}$/

/** The koa application of a process: the same order of middleware in each. */
export function httpShell<Route extends AnyRoute>(shell: Shell<Route>): Koa {
  const app = new Koa({ proxy: shell.trustedProxyHops > 0 })
  // Without the number of our hops, koa trusts the left-most X-Forwarded-For, which clients can set.
  app.maxIpsCount = shell.trustedProxyHops
  app.silent = true
  app.use(async (ctx, next) => {
    const given = ctx.get('x-request-id')
    const requestId = requestIdShape.test(given) ? given : randomUUID()
    ctx.state.requestId = requestId
    ctx.set('X-Request-Id', requestId)
    ctx.set(defaultHeaders)
    ctx.set(shell.headers ?? {})
    await next()
  })
  app.use(shell.metrics.middleware)
  if (shell.rephrase) app.use(shell.rephrase)
  app.use(errorBoundary(shell.log, shell.describe))
  app.use(refuseUnreadableAddress)
  const router = new Router({ strict: true, sensitive: true })
  const fixed = new Map<string, Middleware>()
  const room = createBodyRoom(shell.bodyRoomBytes)
  for (const route of shell.routes) {
    const answer = answerOf(route, shell, room)
    for (const method of methodsOf(route))
      if (!route.path.includes('{')) fixed.set(`${method} ${route.path}`, answer)
    router.register(toRouterPath(route.path), methodsOf(route), answer)
  }
  // The router tries every pattern in turn; hot routes have fixed paths and skip that.
  app.use((ctx, next) => fixed.get(`${ctx.method} ${ctx.path}`)?.(ctx, next) ?? next())
  app.use(router.routes())
  app.use(ctx => shell.elsewhere?.(ctx) || noSuchRoute(ctx, shell.routes))
  return app
}

/** Node accepts `GET http://[`, but koa throws when its path is read. */
async function refuseUnreadableAddress(ctx: Context, next: Next): Promise<void> {
  try {
    void ctx.path
  } catch {
    // For middleware that reads the path of a refused request.
    ctx.url = '/'
    throw new Refusal('invalid', 'The request URL is malformed')
  }
  if (isReplaced(ctx)) throw new Refusal('invalid', 'The query is not valid UTF-8')
  await next()
}

/** Whether parsing the query put U+FFFD in place of bytes that are not UTF-8. */
const isReplaced = ({ querystring, query }: Context): boolean =>
  querystring.includes('%') &&
  !/%ef%bf%bd|\ufffd/i.test(querystring) &&
  JSON.stringify(query).includes('\ufffd')

/** `/api/shelves/{owner}/{+rest}` in the table is `/api/shelves/:owner/*rest` to the router. */
const toRouterPath = (path: string) =>
  path.replace(/\{(\w+)\}/g, ':$1').replace(/\{\+(\w+)\}/g, '*$1')

const methodsOf = ({ method }: RouteShape) => (method === 'GET' ? ['HEAD', 'GET'] : [method])

function answerOf<Route extends AnyRoute>(
  route: Route,
  shell: Shell<Route>,
  room: BodyRoom,
): Middleware {
  const check = {
    path: route.params && checker(route.params, 'path'),
    query: route.query && checker(route.query, 'query'),
    body: route.body && bodyChecker(route, route.body),
  }
  return async (ctx: Context) => {
    ctx.state.route = route.path
    shell.admit(route)
    const caller = await shell.authenticate(ctx, route)
    const name = shell.nameOf?.(caller) ?? clientNetwork(clientAddress(ctx))
    const body = await readBody(ctx, route, { room, caller: name, check: check.body })
    const query = { ...ctx.query }
    const params: object = ctx.params ?? {}
    refuseUnstorable(params, 'path')
    refuseUnstorable(query, 'query')
    const request = {
      caller,
      params: accept(check.path, params),
      query: accept(check.query, query),
      body: body(),
      requestId: String(ctx.state.requestId),
      ctx,
    }
    if (route.rateLimit) await shell.count(route.rateLimit, clientNetwork(clientAddress(ctx)))
    const before = shell.before?.(ctx, route, caller)
    if (before) await before
    const answer = await route.handle(request)
    shell.after?.(ctx, caller)
    if (answer !== undefined) send(ctx, answer)
  }
}

type BodyOf = { room: BodyRoom; caller: string; check: ReturnType<typeof checker> | undefined }

/** Reads the body and returns its check, because the path and query of a request are checked first. */
async function readBody(
  ctx: Context,
  route: RouteShape,
  { room, caller, check }: BodyOf,
): Promise<() => undefined> {
  const {
    bodyLimitBytes: limitBytes = defaultBodyLimit,
    flatBody: flat = false,
    keysMayRepeat = false,
    bareNonFinite = false,
    binaryBody,
  } = route
  if (binaryBody && ctx.get('content-type') === binaryBody.mediaType) {
    const bytes = await readBytes(ctx, { limitBytes, room, caller })
    return () => binaryBody.parse(bytes) as undefined
  }
  const options = { limitBytes, flat, keysMayRepeat, bareNonFinite, room, caller }
  const raw = await readRaw(ctx, route, options)
  route.beforeSchema?.(raw)
  return () => accept(check, raw)
}

async function readRaw(ctx: Context, route: RouteShape, how: BodyOptions): Promise<unknown> {
  if (!route.body) return undefined
  const isAbsent =
    ctx.get('transfer-encoding') === '' && ['', '0'].includes(ctx.get('content-length'))
  if (isAbsent && route.bodyMayBeAbsent) return {}
  return readJsonBody(ctx, how)
}

function bodyChecker({ isPlain }: RouteShape, schema: TSchema): ReturnType<typeof checker> {
  const check = checker(schema, 'body')
  if (!isPlain) return check
  return value => (isPlain(value) ? { ok: true, value } : check(value))
}

function accept(check: ReturnType<typeof checker> | undefined, value: unknown): undefined {
  if (!check) return undefined
  const checked = check(value)
  if (!checked.ok) throw new Invalid(checked.errors)
  return checked.value as undefined
}

function send(ctx: Context, answer: unknown): void {
  if (typeof answer === 'string') {
    ctx.body = answer
    return
  }
  ctx.set('Content-Type', 'application/json; charset=utf-8')
  ctx.body = JSON.stringify(answer)
}

function noSuchRoute(ctx: Context, routes: readonly RouteShape[]): never {
  const exact = routes.filter(route => route.path === ctx.path)
  const matching =
    exact.length > 0 ? exact : routes.filter(route => pathMatches(route.path, ctx.path))
  const allowed = matching.map(route => route.method)
  if (allowed.length === 0) throw new Refusal('not_found', 'Not found')
  ctx.set('Allow', [...new Set(matching.flatMap(methodsOf))].join(', '))
  throw new Refusal(
    'method_not_allowed',
    `${ctx.method} is not allowed here; use ${allowed.join(', ')}`,
  )
}

function pathMatches(pattern: string, path: string): boolean {
  const shape = pattern
    .replace(/[.*+?^$()|[\]\\]/g, '\\$&')
    .replace(/\{\w+\}/g, '[^/]+')
    .replace(/\{\\\+\w+\}/g, '.+')
  return new RegExp(`^${shape}$`).test(path)
}
