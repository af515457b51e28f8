import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Dispatcher } from 'undici'
import type { TrafficRow } from '../schemas/traffic.ts'
import type { PairCopy } from './capture/pair.ts'
import type { Connection, EngineConnections, OnConnection } from './engines/connections.ts'
import { faultMessage, idempotent, isClosed, isSilent, isUnreached } from './engines/faults.ts'
import { type RawHeaders, sandbox, toCaller, toEngine } from './headers.ts'
import type { Deployment, Replica } from './map.ts'
import {
  type GatewayRefusal,
  refuse,
  silentEngine,
  tooLarge,
  tooSlow,
  unreachable,
} from './refusals.ts'
import {
  type BodyLimits,
  BodyTooLarge,
  BodyTooSlow,
  hasBody,
  isJson,
  RequestBody,
} from './request-body.ts'
import { type UsageReader, usageReader } from './usage.ts'

export type Asked = {
  req: IncomingMessage
  res: ServerResponse
  request_id: string
  /** The headers for the page that sent it, if a page did. */
  cors: RawHeaders
  deployment: Deployment
  token_id: string
  /** The engine's path with its query. */
  path: string
  client_ip: string
  /** Copies it, if the token captures; null: nothing is kept. */
  pair: PairCopy | null
}

/** Where to send it: an engine with the connections to it. */
export type Way = {
  replica: Replica
  engine: EngineConnections
  /** Scheme, host and port; the rest of the address precedes the path. */
  origin: string
  host: string
  prefix: string
  secret: { name: string; value: string } | null
}

export type ExchangeDeps = {
  /** Another engine of the revision for each that could not be reached; null: there is none left. */
  nextWay: () => Way | null
  /** Stores the row before the last bytes of the response are sent. Throws if it cannot. */
  record: (row: TrafficRow) => void
  /** Called when it is refused, although its connection may linger. */
  released: () => void
  /** Called for each engine that broke off before it responded. */
  unreached: () => void
  now: () => Date
  /** Milliseconds of a clock that never goes back. */
  clock: () => number
  /** How long a caller may send no byte of its body, in milliseconds. */
  silentMs: number
}

/** Both hold information about the peers, from them or for them. */
const maxUserAgent = 256
const noBytes = Buffer.alloc(0)
/** How many connections may close under a request of which nothing was sent, besides kept ones. */
const mostClosedUnused = 2

/** One request, from when it was admitted to its end. Resolves when both sides have ended; never rejects. */
export class Exchange {
  readonly #asked: Asked
  readonly #deps: ExchangeDeps
  readonly #started: Date
  readonly #began: number
  readonly #done = Promise.withResolvers<void>()
  #body: RequestBody | null = null
  #way: Way | null = null
  #connection: Connection | null = null
  /** Whether the connection carried other requests before. */
  #isReused = false
  /** New connections that closed before anything was sent. */
  #closedUnused = 0
  /** Whether a part of a response has arrived. */
  #isHeardOf = false
  #controller: Dispatcher.DispatchController | null = null
  #reader: UsageReader | null = null
  #revision: string | null = null
  #status = 0
  #errorSource: TrafficRow['error_source'] = null
  #firstByteAt: number | null = null
  #sent = 0
  /** Bytes that the engine announced; null: the end of the connection or of the chunks. */
  #announced: number | null = null
  #isRecorded = false
  #isOver = false
  #wasAborted = false

  constructor(asked: Asked, deps: ExchangeDeps) {
    this.#asked = asked
    this.#deps = deps
    this.#started = deps.now()
    this.#began = deps.clock()
  }

  run(): Promise<void> {
    const { req, deployment } = this.#asked
    const { max_body_bytes: most } = deployment
    if (!this.#isHeard()) return this.#done.promise
    if (Number(req.headers['content-length'] ?? 0) > most) this.#refuse(tooLarge(most))
    else this.#send()
    return this.#done.promise
  }

  /** Responds without asking an engine. */
  refuse(refusal: GatewayRefusal): Promise<void> {
    if (this.#isHeard()) this.#refuse(refusal)
    return this.#done.promise
  }

  /** False if the caller had left while the request was checked, which no later event would report. */
  #isHeard(): boolean {
    const { res } = this.#asked
    res.once('close', () => this.#callerLeft())
    if (res.closed || res.destroyed) this.#callerLeft()
    return !this.#isOver
  }

  get outcome(): { status: number; source: TrafficRow['error_source'] } {
    return { status: this.#status, source: this.#errorSource }
  }

  /** Ends it from this side: the token was revoked, or the deployment is gone. */
  cut(): void {
    if (this.#isOver) return
    this.#errorSource = 'gateway'
    this.#wasAborted = true
    this.#giveUp(new Error('the token was revoked'))
  }

  #send(): void {
    const way = this.#deps.nextWay()
    if (!way) {
      this.#refuse(unreachable('no engine accepts connections'))
      return
    }
    const { method = '' } = this.#asked.req
    const mayMeetItsClose = way.engine.isDistrusted() && !idempotent.has(method)
    this.#sendTo(way, mayMeetItsClose ? way.engine.fresh() : way.engine.kept)
  }

  #sendTo(way: Way, dispatcher: Dispatcher): void {
    const { req, path, deployment, request_id, pair } = this.#asked
    const { origin, host, prefix, secret, replica } = way
    this.#way = way
    this.#connection = null
    this.#isReused = false
    this.#revision = replica.revision_id
    // Before the next one listens: the connection that failed destroys it later.
    this.#body?.destroy()
    this.#body = hasBody(req) ? new RequestBody(req, isJson(req), this.#limits(), pair) : null
    dispatcher.dispatch(
      {
        origin,
        path: `${prefix}${path}`,
        method: req.method as Dispatcher.HttpMethod,
        headers: toEngine(req.rawHeaders, { host, request_id, secret }),
        body: this.#body,
        headersTimeout: deployment.timeout_s * 1000,
        bodyTimeout: deployment.timeout_s * 1000,
      },
      this.#handler(),
    )
  }

  #limits(): BodyLimits {
    const { max_body_bytes: bytes, timeout_s } = this.#asked.deployment
    const { silentMs, clock } = this.#deps
    return { bytes, silentMs, totalMs: timeout_s * 1000, clock }
  }

  #handler(): Dispatcher.DispatchHandler & OnConnection {
    const handler: Dispatcher.DispatchHandler & OnConnection = {
      connection: null,
      onRequestStart: controller => {
        this.#controller = controller
        this.#connection = handler.connection
        this.#isReused = this.#connection?.begin() ?? false
        if (this.#isOver) controller.abort(new Error('the caller went away'))
      },
      onResponseStart: (controller, status, _headers, message) =>
        this.#guarded(() => {
          this.#isHeardOf = true
          // An interim response announces the real one.
          if (status >= 200) this.#start(controller, status, message)
        }),
      onResponseData: (controller, chunk) => this.#guarded(() => this.#pass(controller, chunk)),
      onResponseEnd: (_controller, trailers) => {
        this.#connection?.end()
        this.#guarded(() => this.#end(trailers))
      },
      onResponseError: (_controller, error) => this.#guarded(() => this.#failed(error)),
    }
    return handler
  }

  /** An engine's response may be faulty in unforeseen ways: this ends the request, not the process. */
  #guarded(work: () => void): void {
    try {
      work()
    } catch (error) {
      this.#errorSource = 'engine'
      this.#giveUp(error as Error)
    }
  }

  #start(controller: Dispatcher.DispatchController, status: number, message = ''): void {
    if (this.#isOver) return
    this.#body?.answered()
    const { req, res, request_id, cors, pair } = this.#asked
    const raw = (controller.rawHeaders as (Buffer | string)[] | null | undefined) ?? []
    const headers = raw.map(part => (typeof part === 'string' ? part : part.toString('latin1')))
    const headerOf = (name: string) => {
      const at = headers.findIndex((part, i) => i % 2 === 0 && part.toLowerCase() === name)
      return at === -1 ? null : (headers[at + 1] ?? null)
    }
    const length = headerOf('content-length')
    const hasNoBody = req.method === 'HEAD' || status === 204 || status === 304
    this.#announced = hasNoBody ? 0 : length === null ? null : Number(length)
    const form = [headerOf('content-type') ?? '', headerOf('content-encoding') ?? ''] as const
    this.#reader = usageReader(...form)
    pair?.answers(...form)
    this.#status = status
    if (status >= 400) this.#errorSource = 'engine'
    res.sendDate = false
    const added = {
      ...sandbox,
      'x-request-id': request_id,
      'x-forge-revision': this.#revision ?? '',
    }
    // A response without a body is complete once its head has been sent.
    if (this.#announced === 0 && !this.#kept()) return
    res.writeHead(status, sendable(message), toCaller(headers, added, cors))
    // Not flushHeaders, which sends letters beyond ASCII as UTF-8.
    res.write(noBytes)
  }

  #pass(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isOver) return
    const { res, pair } = this.#asked
    this.#firstByteAt ??= this.#deps.clock()
    this.#sent += chunk.length
    this.#reader?.push(chunk)
    pair?.push(chunk)
    const isLast = this.#announced !== null && this.#sent >= this.#announced
    if ((isLast || this.#reader?.isDone()) && !this.#kept()) return
    if (res.write(chunk)) return
    controller.pause()
    res.once('drain', () => controller.resume())
  }

  #end(trailers: NodeJS.Dict<string | string[]>): void {
    if (this.#isOver || !this.#kept()) return
    const { res } = this.#asked
    const told = Object.entries(trailers).flatMap(([name, value]) =>
      [value ?? []].flat().map((one): [string, string] => [name, one]),
    )
    if (told.length > 0 && this.#announced === null) res.addTrailers(told)
    this.#isOver = true
    // An engine may respond before it has read everything.
    this.#body?.discard()
    res.end(() => this.#done.resolve())
  }

  /** Whether the row is kept; otherwise the exchange was given up, because an unrecorded request gets no response. */
  #kept(): boolean {
    if (this.#isRecorded) return true
    if (this.#reader?.hasFailed()) this.#errorSource ??= 'engine'
    try {
      this.#deps.record(this.#row())
      this.#isRecorded = true
      return true
    } catch {
      this.#giveUp(new Error('the record of traffic is full'))
      return false
    }
  }

  #failed(error: Error): void {
    if (this.#isOver) return
    const { res } = this.#asked
    const fault = this.#callersFault(error)
    // The response has begun, so the caller must see that it broke off.
    if (res.headersSent) {
      this.#errorSource = fault ? 'client' : 'engine'
      this.#giveUp(error)
    } else if (fault) this.#refuse(fault)
    else if (!this.#repeats(error)) this.#withoutAnswer(error)
  }

  /** What the caller did wrong while it sent its body; null: nothing. */
  #callersFault(error: Error): GatewayRefusal | null {
    const { max_body_bytes, timeout_s } = this.#asked.deployment
    const fault = this.#body?.errored ?? error
    if (fault instanceof BodyTooLarge) return tooLarge(max_body_bytes)
    return fault instanceof BodyTooSlow ? tooSlow(this.#deps.silentMs, timeout_s) : null
  }

  #withoutAnswer(error: Error): void {
    this.#deps.unreached()
    const { timeout_s } = this.#asked.deployment
    if (!this.#body?.hasBegun && isUnreached(error)) this.#send()
    else this.#refuse(isSilent(error) ? silentEngine(timeout_s) : unreachable(faultMessage(error)))
  }

  /** Sends it again on a new connection if it met the close of one, and if that is safe. */
  #repeats(error: Error): boolean {
    const way = this.#way
    if (!way || this.#isHeardOf || !isClosed(error)) return false
    const { method = '' } = this.#asked.req
    // The head is sent together with the first byte of the body.
    const isUnsent = this.#body !== null && !this.#body.hasBegun
    if (this.#isReused) way.engine.distrust()
    // Engines also close new connections that stay silent for long; each would give the caller its time again.
    else if (!isUnsent || ++this.#closedUnused > mostClosedUnused) return false
    const isSafe = isUnsent || (this.#body === null && idempotent.has(method))
    if (isSafe) this.#sendTo(way, way.engine.fresh())
    return isSafe
  }

  #callerLeft(): void {
    if (this.#isOver) return
    // Clients hang up after an error.
    this.#errorSource = this.#reader?.hasFailed() ? 'engine' : 'client'
    this.#wasAborted = true
    this.#giveUp(new Error('the caller went away'))
  }

  #refuse(refusal: GatewayRefusal): void {
    if (this.#isOver) return
    const { req, res, request_id, cors } = this.#asked
    this.#status = refusal.status
    this.#errorSource = isCallers(refusal) ? 'client' : 'gateway'
    if (!this.#kept()) return
    this.#isOver = true
    this.#deps.released()
    if (res.closed) this.#done.resolve()
    else res.once('close', () => this.#done.resolve())
    this.#body?.discard()
    refuse(req, res, refusal, { request_id, cors })
  }

  #giveUp(why: Error): void {
    if (this.#isOver) return
    this.#isOver = true
    if (!this.#isRecorded)
      try {
        this.#deps.record(this.#row())
      } catch {
        // It got no response, so nothing is owed.
      }
    this.#controller?.abort(why)
    this.#body?.discard()
    this.#asked.res.destroy()
    this.#done.resolve()
  }

  #row(): TrafficRow {
    const { req, request_id, deployment, token_id, path, client_ip } = this.#asked
    const since = (at: number) => Math.round((at - this.#began) * 10) / 10
    const said = this.#body?.said ?? { model: null, stream: false }
    const usage = this.#reader?.usage()
    return {
      ...{ request_id, deployment_id: deployment.deployment_id, revision_id: this.#revision },
      ...{ token_id, method: req.method ?? '', path: path.split('?')[0]?.slice(0, 1024) ?? '' },
      ...{ model: said.model, stream: said.stream, status: this.#status },
      ...{ error_source: this.#errorSource, started_at: this.#started.toISOString() },
      ttft_ms: this.#firstByteAt === null ? null : since(this.#firstByteAt),
      duration_ms: since(this.#deps.clock()),
      ...{ request_bytes: this.#body?.bytes ?? 0, response_bytes: this.#sent },
      prompt_tokens: usage?.prompt_tokens ?? null,
      completion_tokens: usage?.completion_tokens ?? null,
      usage_source: usage?.usage_source ?? 'none',
      ...{ aborted: this.#wasAborted, client_ip },
      user_agent: req.headers['user-agent']?.slice(0, maxUserAgent) ?? null,
    }
  }
}

const isCallers = ({ status }: GatewayRefusal): boolean => status === 408 || status === 413

/** Node refuses to send other characters in a reason; readers can do without it. */
const sendable = (reason: string): string =>
  /^[\t\x20-\x7e\x80-\xff]*$/.test(reason) ? reason : ''
