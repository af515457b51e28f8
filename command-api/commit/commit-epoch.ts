import type { Pool, PoolClient } from 'pg'
import type { Logger } from 'pino'
import { inTransaction } from '../../platform/postgres/transaction.ts'

/**
 * Begins another epoch if the cluster's transaction ids lie below those of recorded events, because the database was
 * restored from a dump into another cluster (ADR 2). Otherwise the relay would take new events for published ones.
 */
export async function raiseEpoch(pool: Pool, logger: Logger): Promise<void> {
  if (!(await isBehind(pool))) return
  await inTransaction(pool, async tx => {
    // Writers under way have the old epoch, and must be visible to what follows.
    await tx.query('lock table write.event in exclusive mode')
    if (await isBehind(tx)) await raise(tx, logger)
  })
}

/** Every visible event has an id below all future ones, unless it came with a dump of another cluster. */
async function isBehind(on: Pool | PoolClient): Promise<boolean> {
  const { rows } = await on.query<{ is_behind: boolean }>(
    `select coalesce(greatest(
              (select e.xid from write.event e where e.epoch = n.number
                order by e.epoch desc, e.xid desc, e.position desc limit 1),
              case when c.epoch = n.number then c.xid end
            ) >= pg_snapshot_xmax(pg_current_snapshot()), false) as is_behind
       from write.epoch n, write.relay_cursor c`,
  )
  return rows[0]?.is_behind === true
}

/**
 * Also moves events to the new epoch that were written after the restore and are behind the cursor, where they would
 * be missed.
 */
async function raise(tx: PoolClient, logger: Logger): Promise<void> {
  const { rows } = await tx.query('update write.epoch set number = number + 1 returning number')
  const epoch = rows[0]?.number
  const { rowCount: moved } = await tx.query(
    `update write.event e set epoch = $1 from write.relay_cursor c
      where e.position > c.position and (e.epoch, e.xid, e.position) <= (c.epoch, c.xid, c.position)
        and not exists (select from write.audit_chain a where a.position = e.position)`,
    [epoch],
  )
  logger.warn(
    { epoch, moved },
    'transaction ids start over: the database came from another cluster',
  )
}
