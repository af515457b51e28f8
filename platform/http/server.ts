import { randomUUID } from 'node:crypto'
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type Koa from 'koa'
import { CannotStart } from '../cannot-start.ts'
import { limitArrival, usualArrivalMs } from './arrival.ts'
import { belowBasePath } from './base-path.ts'
import { defaultHeaders } from './default-headers.ts'
import { type Connections, drain, usualDrainMs, watchConnections } from './drain.ts'
import { linger, lingersFor } from './linger.ts'

/** Handles a request itself, and limits how long its body takes to arrive; or returns false. */
export type Take = (req: IncomingMessage, res: ServerResponse) => boolean

export type HttpServer = {
  /** The actual port, even if 0 was requested. */
  port: number
  /** What the server is doing, for the responses with 503 before it serves. */
  starting(what: string): void
  /** Requests go to this application from now on, apart from the requests that `take` handles; until then they get 503. Neither sees the base path. */
  serve(app: Koa, take?: Take, basePath?: string): void
  /**
   * Accepts no new connection, lets running requests finish (25 s at most, or `drainMs`), then cuts off the rest.
   * Requests that have not arrived in full a second later get 503, and a client that reads nothing is cut off after
   * three. May be called twice.
   */
  close(drainMs?: number): Promise<void>
}

/**
 * Takes the port, so that a busy port is noticed before anything else has started. Responses may take any time;
 * requests must arrive within `arrivalMs`, two minutes. Throws `CannotStart` if the port cannot be had.
 */
export async function listen(
  host: string,
  port: number,
  arrivalMs = usualArrivalMs,
): Promise<HttpServer> {
  let doing = 'The server is starting'
  let handle: RequestListener = (_, res) => sayStarting(res, doing)
  const server = createServer({
    keepAliveTimeout: 65_000,
    headersTimeout: 15_000,
    // See `limitArrival`.
    requestTimeout: 0,
    maxHeaderSize: 16 * 1024,
  })
  const connections: Connections = watchConnections(server)
  server.on('request', (req, res) => {
    if (lingersFor(req.socket) !== null) return
    const repeated = repeatedHeader(req)
    if (repeated === null) handle(req, res)
    else sayRepeated(res, repeated)
  })
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) =>
    answerUnreadable(error.code ?? '', socket),
  )
  limitArrival(server, connections, {
    arrivalMs,
    refuse: socket => answerUnreadable('ERR_HTTP_REQUEST_TIMEOUT', socket),
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', error => reject(cannotListen(error, host, port)))
    server.listen(port, host, resolve)
  })
  let closing: Promise<void> | null = null
  return {
    port: (server.address() as AddressInfo).port,
    starting(what) {
      doing = what
    },
    serve(app, take = () => false, basePath = '') {
      const answer = app.callback()
      handle = (req, res) => {
        req.url = belowBasePath(req.url ?? '', basePath)
        const exchange = connections.exchanges.get(req.socket)
        const isTaken = take(req, res)
        if (exchange) exchange.isTaken = isTaken
        if (!isTaken) answer(req, res)
      }
    },
    close(drainMs = usualDrainMs) {
      closing ??= drain(server, connections, drainMs)
      return closing
    },
  }
}

function sayStarting(res: ServerResponse, doing: string): void {
  res.writeHead(503, {
    ...defaultHeaders,
    'Content-Type': 'application/json; charset=utf-8',
    'Retry-After': '1',
    // Lets clients distinguish this response from a proxy's.
    'X-Request-Id': randomUUID(),
  })
  res.end(JSON.stringify({ detail: `${doing}; try again`, code: 'unavailable' }))
}

/** A proxy in front may decide by another one of them than this server, which sees only the first (RFC 9112, 3.2). */
const sentOnce = ['host', 'authorization', 'origin', 'content-type', 'x-service-token']

function repeatedHeader({ rawHeaders }: IncomingMessage): string | null {
  const seen = new Set<string>()
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]?.toLowerCase() ?? ''
    if (seen.has(name)) return name
    if (sentOnce.includes(name)) seen.add(name)
  }
  return null
}

/** No further request of this connection is read: whose it is depends on how a proxy understood this one. */
function sayRepeated(res: ServerResponse, header: string): void {
  res.writeHead(400, {
    ...defaultHeaders,
    'Content-Type': 'application/json; charset=utf-8',
    'X-Request-Id': randomUUID(),
    Connection: 'close',
  })
  res.end(JSON.stringify({ detail: `The header ${header} is sent more than once` }))
}

const unreadable: Record<string, { status: number; detail: string }> = {
  HPE_HEADER_OVERFLOW: {
    status: 431,
    detail: 'The head of the request exceeds 16 KiB; shorten its URL and headers',
  },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, detail: 'The request did not arrive in full in time' },
}

/** Malformed HTTP never becomes a request, so this writes a response in the shape of all other refusals. */
function answerUnreadable(code: string, socket: Socket): void {
  // Node finds the same fault again in the bytes that follow.
  if (lingersFor(socket) !== null && code !== 'ECONNRESET') return
  if (code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const { status, detail } = unreadable[code] ?? {
    status: 400,
    detail: 'The request is not valid HTTP/1.1',
  }
  const body = JSON.stringify({ detail })
  const headers = Object.entries({
    'X-Request-Id': randomUUID(),
    ...defaultHeaders,
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    Connection: 'close',
  }).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${headers.join('')}\r\n${body}`)
  linger(socket)
}

/** Worded in terms of the settings, because the operator who starts the server reads it. */
function cannotListen(error: NodeJS.ErrnoException, host: string, port: number): Error {
  const place = `port ${port} of ${host}`
  const another = 'choose another with SERVICE_PORT (0 picks a free one)'
  switch (error.code) {
    case 'EADDRINUSE':
      return new CannotStart(`Another program listens on ${place}: stop it, or ${another}.`, error)
    case 'EACCES':
      return new CannotStart(`This user may not listen on ${place}: ${another}.`, error)
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new CannotStart(
        `${host} is not an address of this machine: set SERVICE_HOST to one, e.g. 127.0.0.1 or 0.0.0.0.`,
        error,
      )
    default:
      return error
  }
}
