import type { Pool } from 'pg'
import type { Logger } from 'pino'
import { locks } from '../../platform/postgres/locks.ts'
import { isOutage } from '../../platform/postgres/pool.ts'
import { tryWithLock } from '../../platform/postgres/with-lock.ts'
import { type Repeated, repeat } from '../../platform/repeat.ts'
import type { Clock } from '../../platform/time.ts'

export type ThinDeps = {
  /** Connections that find the read models. */
  pool: Pool
  /** After how many days samples are reduced to means; 0: never. */
  rawDays: number
  logger: Pick<Logger, 'warn'>
  now: Clock
}

/** The time span of a mean, in milliseconds. */
export const spanMs = 300_000
/** Samples per statement. */
const atOnce = 20_000
/** Pauses in milliseconds: while there is more to do, and when there is nothing. */
const pauseMs = { more: 200, none: 3_600_000 }
const dayMs = 86_400_000

/** Reduces old samples to means, in portions, until stopped. Any number of processes may run it. */
export const startThinning = (deps: ThinDeps): Repeated =>
  repeat(async () => ((await thinSome(deps)) ? pauseMs.more : pauseMs.none), {
    firstAfterMs: 60_000,
    failed: error =>
      deps.logger.warn(
        { err: error, outage: isOutage(error) },
        'thinning samples of hardware failed',
      ),
  })

/**
 * Reduces up to `most` old samples of one run to means, and returns whether there may be more. A single statement, so
 * that readers see each sample once, as itself or in a mean. Does nothing while a rebuild, which holds the lock,
 * copies both tables.
 */
export async function thinSome(
  { pool, rawDays, now }: Pick<ThinDeps, 'pool' | 'rawDays' | 'now'>,
  most = atOnce,
): Promise<boolean> {
  if (rawDays === 0) return false
  const until = now().getTime() - rawDays * dayMs
  // Whole five-minute spans only, so that a mean is complete at once; late samples would have to be weighted in.
  const before = until - (until % spanMs)
  let thinned = 0
  await tryWithLock(pool, locks.logTrim, async () => {
    const { rows } = await pool.query<{ run_id: string }>(
      'select run_id from hardware_points where ts < $1 limit 1',
      [before],
    )
    if (!rows[0]) return
    const { rowCount } = await pool.query(toMeans, [rows[0].run_id, before, most, spanMs])
    thinned = rowCount ?? 0
  })
  return thinned > 0
}

const toMeans = `
  with old as (
    delete from hardware_points
     where ctid = any(array(
       select ctid from hardware_points where run_id = $1 and ts < $2 order by source, ts limit $3))
    returning source, ts - ts % $4 as ts, readings, throttle, xid),
  means as (
    select source, ts, array_agg(mean order by place) as readings, array_agg(count order by place) as counts
      from (select source, ts, place, avg(reading) as mean, count(reading)::int as count
              from old, unnest(readings) with ordinality v (reading, place) group by 1, 2, 3) each
     group by 1, 2),
  marks as (
    select source, ts, max(xid) as xid,
           (select array_agg(distinct reason order by reason) from old o, unnest(o.throttle) reason
             where o.source = old.source and o.ts = old.ts) as throttle
      from old group by 1, 2)
  insert into hardware_means as m (run_id, source, ts, readings, counts, throttle, xid)
  select $1, source, ts, coalesce(readings, '{}'), coalesce(counts, '{}'), throttle, xid
    from marks left join means using (source, ts)
  on conflict (run_id, source, ts) do update set
    readings = (select coalesce(array_agg(
        case when coalesce(n, 0) = 0 then a when coalesce(k, 0) = 0 then b else (a * k + b * n) / (k + n) end
        order by place), '{}')
      from unnest(m.readings, m.counts, excluded.readings, excluded.counts)
           with ordinality v (a, k, b, n, place)),
    counts = (select coalesce(array_agg(coalesce(k, 0) + coalesce(n, 0) order by place), '{}')
      from unnest(m.counts, excluded.counts) with ordinality v (k, n, place)),
    throttle = (select array_agg(distinct reason order by reason)
      from unnest(m.throttle || excluded.throttle) reason),
    xid = greatest(m.xid, excluded.xid)`
