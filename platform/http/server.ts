import { createServer, type Server, STATUS_CODES } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type Koa from 'koa'

export type HttpServer = {
  /** The actual port, even if 0 was requested. */
  port: number
  /** Accepts no new connection, lets running requests finish (25 s at most), then cuts the rest. */
  close(): Promise<void>
}

/** Time for running requests after a stop, in milliseconds. */
const drainMs = 25_000
const idleCheckMs = 100

/** Serves until closed. Responses may take any time; requests must arrive within two minutes. */
export async function listen(app: Koa, host: string, port: number): Promise<HttpServer> {
  const server = createServer(
    {
      keepAliveTimeout: 65_000,
      headersTimeout: 15_000,
      requestTimeout: 120_000,
      maxHeaderSize: 16 * 1024,
    },
    app.callback(),
  )
  server.on('clientError', answerUnreadable)
  const open = new Set<Socket>()
  server.on('connection', socket => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  return { port: (server.address() as AddressInfo).port, close: () => drain(server, open) }
}

const unreadable: Record<string, { status: number; detail: string }> = {
  HPE_HEADER_OVERFLOW: {
    status: 431,
    detail: 'The head of the request exceeds 16 KiB; send less in its address and headers',
  },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, detail: 'The request did not arrive whole in time' },
}

/** Malformed HTTP never becomes a request; this responds in the shape of all refusals. */
function answerUnreadable(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const { status, detail } = unreadable[error.code ?? ''] ?? {
    status: 400,
    detail: 'The request is no valid HTTP/1.1',
  }
  const body = JSON.stringify({ detail })
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  )
}

async function drain(server: Server, open: ReadonlySet<Socket>): Promise<void> {
  const closed = new Promise<void>(resolve => server.close(() => resolve()))
  closeIdle(server, open)
  // Connections become idle as their requests finish.
  const idle = setInterval(() => closeIdle(server, open), idleCheckMs)
  const cut = setTimeout(() => server.closeAllConnections(), drainMs)
  await closed
  clearInterval(idle)
  clearTimeout(cut)
}

/** Node counts a connection without a request as busy; browsers and fetch open such connections in advance. */
function closeIdle(server: Server, open: ReadonlySet<Socket>): void {
  server.closeIdleConnections()
  for (const socket of open) if (socket.bytesRead === 0) socket.destroy()
}
