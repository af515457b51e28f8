import type { Pool } from 'pg'
import type { Logger } from 'pino'
import { untilAborted } from '../pause.ts'
import { repeat } from '../repeat.ts'
import type { Lock } from './locks.ts'
import { tryWithLock } from './with-lock.ts'

export type Part = { stop(): Promise<void> }

export type Exclusive = {
  pool: Pool
  lock: Lock
  logger: Logger
  retryMs?: number
}

/**
 * Runs a part in at most one process of an installation. The others wait; one of them starts the part when the holder
 * stops, dies or loses its connection (in which case the holder stops its part first).
 *
 * For a part that is started and stopped. For a loop, use `repeat` around `tryWithLock`, with a signal that aborts at
 * `lost`. Neither is needed for work on rows that are leased or skipped when locked.
 */
export function startExclusive(
  { pool, lock, logger, retryMs = 1000 }: Exclusive,
  start: () => Part,
): Part {
  const holdAndRun = async (signal: AbortSignal) => {
    await tryWithLock(pool, lock, async (_, lost) => {
      const part = start()
      await untilAborted(AbortSignal.any([signal, lost]))
      await part.stop()
    })
    return retryMs
  }
  return repeat(holdAndRun, {
    retryMs: { first: retryMs, most: retryMs },
    failed: error =>
      logger.warn({ err: error }, 'a part that runs in one process failed, will retry'),
  })
}
