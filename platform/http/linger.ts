import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'

/** How long the rest of a refused request is read: in total, and without a byte; as nginx's `lingering_close`. */
const longestMs = 30_000
const silentMs = 5_000
const lookEveryMs = 500

const lingering = new WeakMap<Socket, number>()

/**
 * Reads and discards what a client still sends after its last response, before the connection is closed. A connection that is
 * closed while the client sends is reset, and the reset overtakes the response: most clients then report a broken connection.
 * `newest` is the connection's current request.
 */
export function lingerOnClose(socket: Socket, newest: () => IncomingMessage | undefined): void {
  const close = socket.destroySoon.bind(socket)
  // Node calls it after the last response of a connection.
  socket.destroySoon = () => {
    const req = newest()
    if (!req || req.complete) close()
    else {
      req.once('end', close)
      linger(socket, () => req.resume())
    }
  }
}

/** Sends the pending response, and then reads for a limited time, until the client closes its side. */
export function linger(socket: Socket, resume: () => void = () => {}): void {
  if (lingering.has(socket)) return
  const since = performance.now()
  lingering.set(socket, since)
  socket.end()
  resume()
  let read = socket.bytesRead
  let readAt = since
  const looking = setInterval(() => {
    // The body's previous reader may have detached late, which pauses it.
    resume()
    const now = performance.now()
    if (socket.bytesRead > read) readAt = now
    read = socket.bytesRead
    if (now - since > longestMs || now - readAt > silentMs) socket.destroy()
  }, lookEveryMs)
  socket.once('close', () => clearInterval(looking))
}

/** For how many milliseconds the connection has only been read; null if it is in use. */
export function lingersFor(socket: Socket): number | null {
  const since = lingering.get(socket)
  return since === undefined ? null : performance.now() - since
}
