import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import { linger, lingerOnClose, lingersFor } from './linger.ts'

/** Time that running requests get after a stop, in milliseconds. */
export const usualDrainMs = 25_000
/** Requests that have not arrived in full this long after a stop are refused. */
const arriveWithinMs = 1_000
/** A client that reads nothing for this long is cut off; Node takes up to twice as long to notice. */
const stalledMs = 1_500
const lookEveryMs = 100

export type Exchange = {
  req: IncomingMessage
  res: ServerResponse
  /** By `performance.now()`. */
  since: number
  /** Whether its handler limits how long its body takes. */
  isTaken: boolean
}

/** The open connections of a server, and the newest request of each. */
export type Connections = {
  open: ReadonlySet<Socket>
  exchanges: WeakMap<Socket, Exchange>
}

export function watchConnections(server: Server): Connections {
  const open = new Set<Socket>()
  const exchanges = new WeakMap<Socket, Exchange>()
  server.on('connection', socket => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
    lingerOnClose(socket, () => exchanges.get(socket)?.req)
  })
  server.on('request', (req, res) => {
    // The rest of a refused request may be followed by another one.
    if (lingersFor(req.socket) !== null) return
    exchanges.set(req.socket, { req, res, since: performance.now(), isTaken: false })
  })
  return { open, exchanges }
}

/** Accepts no new connection and resolves when the last one has closed. */
export async function drain(
  server: Server,
  { open, exchanges }: Connections,
  drainMs: number,
): Promise<void> {
  const began = performance.now()
  const isBeingSent = (socket: Socket) =>
    socket.writableLength > 0 && exchanges.get(socket)?.res.writableEnded === true
  const look = () => {
    const now = performance.now()
    const connections = [...open]
    // Node regards a response as finished once it has been handed to the socket, sent or not.
    if (!connections.some(isBeingSent)) server.closeIdleConnections()
    for (const socket of connections) {
      // Node counts a connection without a request as busy; browsers and fetch open such connections in advance.
      if (socket.bytesRead === 0 || (lingersFor(socket) ?? 0) > arriveWithinMs) socket.destroy()
      else if (now - began > arriveWithinMs) refuseUnarrived(socket, exchanges.get(socket))
      watchReader(socket)
    }
  }
  // Node's own check, because only it sees how much of a long response the client has taken.
  server.on('timeout', socket => {
    if (socket.writableLength > 0) socket.destroy()
  })
  // Not the HTTP server's own `close`, which cuts responses that are not sent yet.
  const closed = new Promise<void>(resolve =>
    NetServer.prototype.close.call(server, () => resolve()),
  )
  look()
  // Connections become idle as their requests finish.
  const looking = setInterval(look, lookEveryMs)
  const cut = setTimeout(() => server.closeAllConnections(), drainMs)
  await closed
  clearInterval(looking)
  clearTimeout(cut)
}

function watchReader(socket: Socket): void {
  if (socket.writableLength > 0 && socket.timeout !== stalledMs) socket.setTimeout(stalledMs)
}

const refusal = JSON.stringify({
  detail: 'The server is stopping and the request had not arrived in full; send it again',
  code: 'unavailable',
})
const refusalHeaders = {
  'Content-Type': 'application/json; charset=utf-8',
  'Content-Length': Buffer.byteLength(refusal),
  'Retry-After': '2',
  Connection: 'close',
}

/** Refuses a request whose head or body is incomplete; its handler, if any, finds the connection closed. */
function refuseUnarrived(socket: Socket, exchange: Exchange | undefined): void {
  if (exchange === undefined || exchange.res.writableFinished) {
    if (!socket.writable) return
    const headers = Object.entries(refusalHeaders).map(([name, value]) => `${name}: ${value}\r\n`)
    socket.write(`HTTP/1.1 503 Service Unavailable\r\n${headers.join('')}\r\n${refusal}`)
    linger(socket)
    return
  }
  const { req, res } = exchange
  if (req.complete) return
  if (res.headersSent) socket.destroy()
  else res.writeHead(503, refusalHeaders).end(refusal)
}
