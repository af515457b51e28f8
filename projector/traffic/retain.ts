import type { Pool } from 'pg'
import type { Logger } from 'pino'
import { locks } from '../../platform/postgres/locks.ts'
import { isOutage } from '../../platform/postgres/pool.ts'
import { inTransaction } from '../../platform/postgres/transaction.ts'
import { tryWithLock } from '../../platform/postgres/with-lock.ts'
import { type Repeated, repeat } from '../../platform/repeat.ts'
import type { Clock } from '../../platform/time.ts'

export type RetainDeps = {
  /** Connections that find the read models. */
  pool: Pool
  /** After how many days only daily sums are kept; 0: never. */
  days: number
  logger: Pick<Logger, 'warn'>
  now: Clock
}

const everyMs = 3_600_000
const dayMs = 86_400_000
const lockWithinMs = 2_000

/** Drops days past their retention, until stopped. Any number of processes may run it. */
export const startRetainingTraffic = (deps: RetainDeps): Repeated =>
  repeat(
    async () => {
      await dropOldTraffic(deps)
      return everyMs
    },
    {
      firstAfterMs: 60_000,
      retryMs: { first: 5_000, most: 300_000 },
      failed: error =>
        deps.logger.warn({ err: error, outage: isOutage(error) }, 'dropping old traffic failed'),
    },
  )

/** Returns how many days were dropped. Does nothing while a rebuild, which holds the lock, copies the rows. */
export async function dropOldTraffic({
  pool,
  days,
  now,
}: Omit<RetainDeps, 'logger'>): Promise<number> {
  if (days === 0) return 0
  const oldest = new Date(now().getTime() - days * dayMs).toISOString().slice(0, 10)
  const keep = `traffic_${oldest.replaceAll('-', '')}`
  let dropped = 0
  await tryWithLock(pool, locks.logTrim, async () => {
    const { rows } = await pool.query<{ schema: string; part: string }>(
      `select n.nspname as schema, c.relname as part
         from pg_inherits i join pg_class c on c.oid = i.inhrelid join pg_namespace n on n.oid = c.relnamespace
        where i.inhparent = to_regclass('traffic') and c.relname < $1 order by c.relname`,
      [keep],
    )
    for (const { schema, part } of rows) {
      // Readers queue behind this, so it gives up quickly; the next pass retries.
      await inTransaction(pool, async tx => {
        await tx.query(`set local lock_timeout = ${lockWithinMs}`)
        await tx.query('select drop_traffic_partition($1, $2)', [schema, part])
      })
      dropped++
    }
  })
  return dropped
}
