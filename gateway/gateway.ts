import type { IncomingMessage, ServerResponse } from 'node:http'
import type { EngineHeaders } from '../auth/engine-header.ts'
import type { JudgeTokens } from '../auth/judge-token.ts'
import { repeat } from '../platform/repeat.ts'
import type { TrafficRow } from '../schemas/traffic.ts'
import { type Capture, isCaptured, PairCopy } from './capture/pair.ts'
import { allowPreflight, corsOf, isAllowed, isPreflight } from './cors.ts'
import { EnginePools } from './engines/pools.ts'
import { Exchange, type Way } from './exchange.ts'
import type { Deployment, Replica, ServingMap } from './map.ts'
import { isInference, targetOf } from './path.ts'
import { isSession, type Playground } from './playground.ts'
import * as refusals from './refusals.ts'
import { type Load, UnderWay } from './under-way.ts'

export type GatewayDeps = {
  map: ServingMap
  engineHeaders: EngineHeaders
  judgeTokens: JudgeTokens
  record: (row: TrafficRow) => void
  /** Receives the requests and responses of tokens that capture. */
  capture: Capture
  /** Whether another row can be stored: a request that cannot be recorded gets no response. */
  hasRoom: () => boolean
  newRequestId: () => string
  now: () => Date
  /** Milliseconds of a clock that never goes back. */
  clock: () => number
  /** How long a caller may send no byte of its body, in milliseconds. */
  silentMs: number
  /** The address of a caller, given how many proxies are trusted. */
  addressOf: (req: IncomingMessage) => string
  playground: Playground
  /** Counts events for the scraper. */
  observed: Observed
  failed: (error: unknown) => void
  /** Whether the process is stopping. */
  isDraining: () => boolean
}

export type Observed = {
  /** A request was checked: how long that took, in ms, which is most of a gateway's overhead. */
  judged: (ms: number) => void
  answered: (answer: { status: number; source: TrafficRow['error_source'] }) => void
  /** An engine accepted no connection, or broke off before it responded. */
  unreached: () => void
}

export type Gateway = {
  /** Accepts a request for inference; false if it is for another part of Forge. */
  take(req: IncomingMessage, res: ServerResponse): boolean
  /** The requests under way, and those since the previous call. */
  takeLoad(): Load[]
  /** How many admitted requests are under way. */
  underWay(): number
  /** Looks for changes at once. */
  wake(): void
  /** Ends its connections to engines, once no request is under way. */
  close(): Promise<void>
}

/** How often open streams are checked for revoked tokens, in milliseconds. */
const lookEveryMs = 250

type Open = {
  exchange: Exchange
  deployment_id: string
  token_id: string
  /** For a session: whether it may continue. */
  mayGoOn: (() => Promise<boolean>) | null
}

export function createGateway(deps: GatewayDeps): Gateway {
  const { map, observed, clock } = deps
  const engines = new EnginePools(map, clock)
  const open = new Set<Open>()
  const under = new UnderWay(clock)
  const looking = cutRevoked(deps, open)
  async function admitted(req: IncomingMessage, res: ServerResponse, request_id: string) {
    const began = clock()
    const judged = isPreflight(req) ? await judgePreflight(deps, req) : await judge(deps, req)
    observed.judged(clock() - began)
    const cors = corsOf(map, req)
    if (judged === 'preflight') {
      observed.answered({ status: 204, source: null })
      allowPreflight(req, res, { cors, request_id })
      return
    }
    if ('refusal' in judged) {
      observed.answered({ status: judged.refusal.status, source: 'gateway' })
      refusals.refuse(req, res, judged.refusal, { request_id, cors })
      return
    }
    const { deployment, token_id, path, mayGoOn } = judged
    const { deployment_id } = deployment
    const refusal = refusalOf(map, deployment, under.of(deployment_id))
    const ways = waysOf(deps, deployment, id => under.of(id), engines)
    const { count, released } = counting(under)
    const nextWay = () => {
      const way = ways.shift() ?? null
      if (way) count(way.replica.replica_id)
      return way
    }
    const { pair, record } = capturing(deps, req, { token_id, path })
    const client_ip = deps.addressOf(req)
    const exchange = new Exchange(
      { req, res, request_id, cors, deployment, token_id, path, pair, client_ip },
      { ...deps, record, nextWay, released, unreached: observed.unreached },
    )
    const entry: Open = { exchange, deployment_id, token_id, mayGoOn }
    open.add(entry)
    // A refused request is not counted as load, however long its caller takes to read the refusal.
    if (!refusal) count(deployment_id)
    try {
      await (refusal ? exchange.refuse(refusal) : exchange.run())
    } finally {
      open.delete(entry)
      released()
      observed.answered(exchange.outcome)
    }
  }

  return {
    take(req, res) {
      if (!isInference(req.url ?? '')) return false
      const request_id = deps.newRequestId()
      admitted(req, res, request_id).catch((error: unknown) => {
        deps.failed(error)
        if (!res.headersSent)
          refusals.refuse(req, res, refusals.away('The request could not be checked; try again'), {
            request_id,
            cors: corsOf(map, req),
          })
        else res.destroy()
      })
      return true
    },
    takeLoad: () => under.take(),
    underWay: () => open.size,
    wake: looking.wake,
    async close() {
      await looking.stop()
      await engines.destroy()
    },
  }
}

/** A copy of the request, if its token captures; it is kept with the row of a complete response. */
function capturing(
  { map, capture, record }: GatewayDeps,
  req: IncomingMessage,
  of: { token_id: string; path: string },
) {
  const pair = isCaptured(map, req, of) ? new PairCopy(capture) : null
  return {
    pair,
    record(row: TrafficRow) {
      record(row)
      pair?.keep(row)
    },
  }
}

/** The counters that include a request until it is released; releasing twice is harmless. */
function counting(under: UnderWay) {
  const counted: string[] = []
  return {
    count(id: string) {
      counted.push(id)
      under.add(id, 1)
    },
    released() {
      for (const id of counted.splice(0)) under.add(id, -1)
    },
  }
}

/** Ends open requests whose token was revoked or whose deployment is gone. */
const cutRevoked = ({ map, failed }: GatewayDeps, open: ReadonlySet<Open>) =>
  repeat(
    async () => {
      await map.fresh()
      const isOpen = async ({ deployment_id, token_id, mayGoOn }: Open) =>
        mayGoOn
          ? map.deployment(deployment_id) !== null && (await mayGoOn())
          : map.isOpen(deployment_id, token_id)
      // Whether it may continue is checked again soon; a failed check delays no other request.
      for (const one of [...open]) await isOpen(one).then(may => may || one.exchange.cut(), failed)
      return lookEveryMs
    },
    { failed, retryMs: { first: lookEveryMs, most: 1000 } },
  )

type Judged =
  | { refusal: refusals.GatewayRefusal }
  | { deployment: Deployment; token_id: string; path: string; mayGoOn: Open['mayGoOn'] }

/** Whether the caller may make this request, by the state committed before it arrived (specification, "Errors"). */
async function judge(deps: GatewayDeps, req: IncomingMessage): Promise<Judged> {
  const { map, failed } = deps
  const { method = '' } = req
  if (deps.isDraining()) return { refusal: refusals.away('The server is stopping; try again') }
  if (method === 'TRACE' || method === 'CONNECT') return { refusal: refusals.noMethod(method) }
  const upgrade = upgradeOf(req)
  if (upgrade !== null) return { refusal: refusals.noUpgrade(upgrade) }
  const target = targetOf(req.url ?? '')
  if (target.kind === 'illegal') return { refusal: refusals.illegalPath(target.why) }
  if (target.kind === 'unknown') return { refusal: refusals.unknownPath }
  try {
    await map.fresh()
  } catch (error) {
    failed(error)
    // Without the database it is unknown whether the token was revoked.
    return { refusal: refusals.away('Tokens cannot be checked now; try again') }
  }
  if (isSession(target.deployment_id)) return enter(deps, req, target)
  const deployment = map.deployment(target.deployment_id)
  if (!deployment) return { refusal: refusals.noDeployment(target.deployment_id) }
  const admitted = admittedBy(deps, deployment, bearerOf(req))
  if (!admitted) return { refusal: refusals.noToken }
  if (!deps.hasRoom())
    return { refusal: refusals.away('Requests cannot be recorded now; try again') }
  return { ...admitted, path: target.path }
}

/** By a token of the deployment, or by one that Forge issued to itself for judging samples with one revision. */
function admittedBy(
  { map, judgeTokens, now }: GatewayDeps,
  deployment: Deployment,
  bearer: string,
): Omit<Extract<Judged, { path: string }>, 'path'> | null {
  const { deployment_id } = deployment
  const token_id = map.tokenFor(deployment_id, bearer)
  if (token_id !== null) return { deployment, token_id, mayGoOn: null }
  const judge = judgeTokens.open(bearer, deployment_id, now())
  if (!judge) return null
  const { revision_id, judging_id } = judge
  const mayGoOn = async () => true
  return { deployment: { ...deployment, revision_id }, token_id: judging_id, mayGoOn }
}

/** A browser sends no token along, so the origin alone decides; whether the deployment exists changes no refusal. */
async function judgePreflight(
  deps: GatewayDeps,
  req: IncomingMessage,
): Promise<'preflight' | { refusal: refusals.GatewayRefusal }> {
  if (deps.isDraining()) return { refusal: refusals.away('The server is stopping; try again') }
  try {
    await deps.map.fresh()
  } catch (error) {
    deps.failed(error)
    return { refusal: refusals.away('Allowed origins cannot be checked now; try again') }
  }
  return isAllowed(corsOf(deps.map, req)) ? 'preflight' : { refusal: refusals.noOrigin }
}

type SessionTarget = { deployment_id: string; path: string }

/** A playground session is opened by an access token, and its requests go to its own revision. */
async function enter(
  { map, playground, hasRoom }: GatewayDeps,
  req: IncomingMessage,
  { deployment_id: session_id, path }: SessionTarget,
): Promise<Judged> {
  const look = () => playground.enter(session_id, bearerOf(req))
  const session = await look()
  if (session === 'no person') return { refusal: refusals.noPerson }
  const known = session === 'no session' ? null : map.deployment(session.deployment_id)
  if (session === 'no session' || !known) return { refusal: refusals.noSession(session_id) }
  if (!hasRoom()) return { refusal: refusals.away('Requests cannot be recorded now; try again') }
  const deployment = { ...known, revision_id: session.revision_id ?? known.revision_id }
  const mayGoOn = async () => typeof (await look()) !== 'string'
  return { deployment, token_id: session_id, path, mayGoOn }
}

/** Protocols that clients offer although HTTP/1.1 serves them: Java's client offers `h2c` with every request. */
const offered = /^(h2c?|HTTP\/2\.0|TLS\/[\d.]+)$/i

/** The protocol that the caller wants instead of HTTP, such as `websocket`; null: none. */
function upgradeOf({ headers }: IncomingMessage): string | null {
  const isAsked = /(^|,)\s*upgrade\s*(,|$)/i.test(headers.connection ?? '')
  const protocols = String(isAsked ? (headers.upgrade ?? '') : '').split(',')
  const wanted = protocols.map(one => one.trim()).filter(one => one !== '' && !offered.test(one))
  return wanted[0]?.slice(0, 64) ?? null
}

/** Two headers could name two tokens, so only one counts. */
function bearerOf({ rawHeaders, headers }: IncomingMessage): string {
  const named = rawHeaders.filter(
    (name, at) => at % 2 === 0 && name.toLowerCase() === 'authorization',
  )
  if (named.length !== 1) return ''
  return /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1] ?? ''
}

function refusalOf(
  map: ServingMap,
  deployment: Deployment,
  under: number,
): refusals.GatewayRefusal | null {
  if (deployment.state !== 'serving') return refusals.suspended
  if (map.replicasOf(deployment.revision_id).length === 0) return refusals.noReplica
  return under >= deployment.max_concurrency ? refusals.busy(deployment.max_concurrency) : null
}

/** The engines of the promoted revision, the one with the fewest requests of this gateway first. */
function waysOf(
  { map, engineHeaders }: GatewayDeps,
  { revision_id }: Deployment,
  under: (replica_id: string) => number,
  engines: EnginePools,
): Way[] {
  return map
    .replicasOf(revision_id)
    .sort((a, b) => under(a.replica_id) - under(b.replica_id))
    .map(replica => {
      const { origin, host, prefix, engine } = engines.to(replica.base_url)
      return { replica, engine, origin, host, prefix, secret: secretOf(replica, engineHeaders) }
    })
}

function secretOf(
  { header_name, header_sealed, revision_id }: Replica,
  headers: EngineHeaders,
): Way['secret'] {
  const value = header_sealed && headers.open(header_sealed, revision_id)
  return header_name !== null && value ? { name: header_name, value } : null
}
