import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Connections, Exchange } from './drain.ts'

/** How long a request may take to arrive, in milliseconds, except where its handler sets its own limits. */
export const usualArrivalMs = 120_000
const lookEveryMs = 5_000

/**
 * Ends requests that have not arrived in full in time. Node's own limit would also end requests whose handler accepts slow
 * bodies: one that took a request limits it itself until it has responded.
 */
export function limitArrival(
  server: Server,
  { open, exchanges }: Connections,
  { arrivalMs, refuse }: { arrivalMs: number; refuse: (socket: Socket) => void },
): void {
  const look = () => {
    for (const socket of open) {
      const exchange = exchanges.get(socket)
      if (!exchange || !isLate(exchange, arrivalMs)) continue
      if (exchange.res.headersSent) socket.destroy()
      else refuse(socket)
    }
  }
  const looking = setInterval(look, Math.min(lookEveryMs, arrivalMs / 4)).unref()
  server.once('close', () => clearInterval(looking))
}

function isLate({ req, res, since, isTaken }: Exchange, arrivalMs: number): boolean {
  if (req.complete || (isTaken && !res.writableEnded)) return false
  return performance.now() - since >= arrivalMs
}
