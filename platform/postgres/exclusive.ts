import type { Pool, PoolClient } from 'pg'
import type { Logger } from 'pino'
import { createBell } from '../bell.ts'

export type Part = { stop(): Promise<void> }

export type Exclusive = {
  pool: Pool
  /** Only one holder of it in the database; the lock goes with the connection, and so with the process. */
  lockId: number
  logger: Logger
  retryMs?: number
}

/**
 * Keeps a part going in at most one process of an installation: the others wait, and one of them starts it
 * when the holder stops, dies or loses its connection (which stops the part here first).
 */
export function startExclusive(options: Exclusive, start: () => Part): Part {
  const stopping = new AbortController()
  const bell = createBell()
  const running = (async () => {
    while (!stopping.signal.aborted) {
      await holdAndRun(options, start, stopping.signal).catch(error =>
        options.logger.warn({ err: error }, 'a part that runs in one process failed, will retry'),
      )
      await bell.wait(options.retryMs ?? 1000, stopping.signal)
    }
  })()
  return {
    async stop() {
      stopping.abort()
      bell.ring()
      await running
    },
  }
}

async function holdAndRun(
  { pool, lockId }: Exclusive,
  start: () => Part,
  signal: AbortSignal,
): Promise<void> {
  const client = await pool.connect()
  let lost: Error | undefined
  try {
    const { rows } = await client.query('select pg_try_advisory_lock($1) as held', [lockId])
    if (!rows[0]?.held) return
    const part = start()
    lost = await untilLostOr(client, signal)
    await part.stop()
    if (!lost) await client.query('select pg_advisory_unlock($1)', [lockId])
  } catch (error) {
    lost = error as Error
    throw error
  } finally {
    client.release(lost)
  }
}

/** Answers why the connection was lost, or undefined when told to stop. */
function untilLostOr(client: PoolClient, signal: AbortSignal): Promise<Error | undefined> {
  return new Promise(resolve => {
    if (signal.aborted) resolve(undefined)
    signal.addEventListener('abort', () => resolve(undefined), { once: true })
    client.once('error', resolve)
    client.once('end', () => resolve(new Error('the connection ended')))
  })
}
