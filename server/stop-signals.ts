import type { Logger } from 'pino'

/** npm forwards the Ctrl-C that the terminal has already sent to the server itself: the two count as one. */
const sameSignalMs = 2_000

/**
 * Aborts at the first signal that asks the server to stop; SIGHUP comes from a closed terminal. A further one
 * ends the process without waiting for the rest, if it comes more than two seconds later.
 */
export function stopSignal(logger: Logger): AbortSignal {
  const stopping = new AbortController()
  let firstAt = 0
  const receive = (signal: NodeJS.Signals) => {
    if (!stopping.signal.aborted) {
      firstAt = performance.now()
      logger.info({ signal }, 'stopping')
      stopping.abort()
    } else if (performance.now() - firstAt > sameSignalMs) {
      logger.warn({ signal }, 'stopping at once')
      process.exit(1)
    }
  }
  for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(name, receive)
  return stopping.signal
}
