import type { Pool } from 'pg'
import type { Logger } from 'pino'
import { pause } from '../../platform/pause.ts'
import type { Clock } from '../../platform/time.ts'
import { next } from '../generations.ts'
import { countDue } from '../metrics/compact.ts'

export type CompactBuiltDeps = {
  /** Starts a compactor of the metrics in this schema. */
  startCompactor: (schema: string) => { stop(): Promise<void> }
  logger: Logger
  now: Clock
  signal: AbortSignal
}

const lookMs = 250
/** How long to wait for a compactor without progress: without it, reads are slow but correct. */
const patienceMs = 120_000

/**
 * Compacts the new generation while the replay follows the log, until no run is due: otherwise every read would merge
 * all replayed blocks until the live compactor has caught up.
 */
export async function compactBuilt(
  deps: CompactBuiltDeps,
  pool: Pool,
  catchUp: () => Promise<void>,
): Promise<void> {
  const compactor = deps.startCompactor(next)
  try {
    await untilCompacted(deps, pool, catchUp)
  } finally {
    await compactor.stop()
  }
}

async function untilCompacted(
  { logger, now, signal }: CompactBuiltDeps,
  pool: Pool,
  catchUp: () => Promise<void>,
): Promise<void> {
  let fewest = Number.POSITIVE_INFINITY
  let improvedAt = performance.now()
  while (!signal.aborted) {
    const due = await countDue(pool, now())
    if (due === 0) return
    if (due < fewest) {
      fewest = due
      improvedAt = performance.now()
    }
    if (performance.now() - improvedAt > patienceMs) {
      logger.warn({ runs: due }, 'the new read models could not be compacted; going on without')
      return
    }
    await pause(lookMs, signal)
    await catchUp()
  }
}

/** Without statistics the first reads of the new tables would be planned as if those were empty. */
export async function analyze(pool: Pool): Promise<void> {
  const { rows } = await pool.query<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname = $1`,
    [next],
  )
  for (const { name } of rows) await pool.query(`analyze ${name}`)
}
