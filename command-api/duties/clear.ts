import type { Pool } from 'pg'
import type { Logger } from 'pino'
import { forEachApart } from '../../platform/each.ts'
import { type Repeated, repeat } from '../../platform/repeat.ts'
import type { Clock } from '../../platform/time.ts'

/** How long done duties, and the records of what followers acted on, are kept. */
const dutyDays = 7
const effectDays = 30
const dayMs = 86_400_000
const batch = 1000
const intervalMs = 3_600_000
const betweenBatchesMs = 50

const old = [
  {
    days: dutyDays,
    text: `delete from write.duty where duty_id in (
             select duty_id from write.duty where done_at < $1 order by done_at limit $2 for update skip locked)`,
  },
  {
    days: effectDays,
    text: `delete from write.follower_effect where (follower, causation_id) in (
             select follower, causation_id from write.follower_effect where caused_at < $1
              order by caused_at limit $2 for update skip locked)`,
  },
]

type Clearing = { pool: Pool; now: Clock; logger: Logger }

/** Deletes old rows in batches, so that no transaction is long and nothing waits for one. */
export const clearDone = (deps: Clearing): Repeated =>
  repeat(async () => ((await clearBatch(deps)) ? betweenBatchesMs : intervalMs), {
    failed: error =>
      deps.logger.warn({ err: error }, 'done duties could not be cleared, will retry'),
  })

/** Deletes one batch of each kind; returns true if more rows may be due. */
export async function clearBatch({ pool, now, logger }: Clearing): Promise<boolean> {
  let isMore = false
  const clear = async ({ days, text }: (typeof old)[number]) => {
    const before = new Date(now().getTime() - days * dayMs)
    const { rowCount } = await pool.query(text, [before, batch])
    isMore ||= rowCount === batch
  }
  await forEachApart(old, clear, error =>
    logger.warn({ err: error }, 'done duties could not be cleared, will retry'),
  )
  return isMore
}
