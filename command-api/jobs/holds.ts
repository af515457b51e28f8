import type { Pool } from 'pg'
import type { Transaction } from '../commit/event-store.ts'
import { releasePool } from '../rules/team-pool.ts'

export type QuotaHold = {
  run_id: string
  username: string
  series: string
  gpus: number
  /** In whose pool it counts. */
  team: string | null
  now: Date
}

/**
 * Reserves a job's share of its owner's quota, or nothing. One conditional UPDATE decides: the row lock serializes
 * racing jobs. GPU hours of today are a soft limit: once used up, no job
 * with GPUs starts, but none is stopped.
 */
export async function takeQuota(tx: Transaction, hold: QuotaHold): Promise<boolean> {
  const { run_id, username, series, gpus, team, now } = hold
  await tx.query('insert into write.quota (username) values ($1) on conflict do nothing', [
    username,
  ])
  const { rowCount } = await tx.query({
    name: 'take_quota',
    text: `update write.quota q
              set held_gpus = held_gpus + $2, held_jobs = held_jobs + 1,
                  held_series = held_series || jsonb_build_object(
                    $3::text, coalesce((held_series ->> $3)::int, 0) + $2)
            where username = $1
              and held_gpus + $2 <= max_concurrent_gpus
              and held_jobs + 1 <= max_concurrent_jobs
              and coalesce((held_series ->> $3)::int, 0) + $2
                  <= coalesce((per_series -> $3 ->> 'max_concurrent_gpus')::int, 2147483647)
              and ($2::int = 0 or (${hoursLeft({ owner: '$1', series: '$3', now: '$4' })}))`,
    values: [username, gpus, series, now],
  })
  if (rowCount === 0) return false
  await tx.query(
    `insert into write.quota_hold (run_id, username, series, gpus, team, since) values ($1, $2, $3, $4, $5, $6)`,
    [run_id, username, series, gpus, team, now],
  )
  return true
}

/** Releases a run's share of the quota and its GPUs, and notes for how long it held them; may be repeated. */
export async function releaseHolds(tx: Transaction, run_id: string, now: Date): Promise<void> {
  const { rows } = await tx.query(
    `with gone as (delete from write.quota_hold where run_id = $1 returning username, series, gpus, team, since),
          noted as (insert into write.past_hold (recipe, profile, seconds, ended_at)
                    select j.recipe, j.profile, extract(epoch from $2::timestamptz - gone.since), $2
                      from gone, write.job_state j where j.run_id = $1 and j.recipe is not null)
     select username, series, gpus, team from gone`,
    [run_id, now],
  )
  const hold = rows[0]
  if (hold)
    await tx.query(
      `update write.quota
          set held_gpus = held_gpus - $2, held_jobs = held_jobs - 1,
              held_series = held_series || jsonb_build_object($3::text, (held_series ->> $3)::int - $2)
        where username = $1`,
      [hold.username, hold.gpus, hold.series],
    )
  if (hold?.team) await releasePool(tx, hold)
  await tx.query('delete from write.gpu_slot where run_id = $1', [run_id])
}

/** Older attempts say nothing about today's jobs. */
export async function forgetOldHolds(pool: Pool, now: Date): Promise<void> {
  await pool.query({
    name: 'forget_old_holds',
    text: `with holds as (delete from write.past_hold where ended_at < ${longAgo}),
                waits as (delete from write.past_wait where started_at < ${longAgo})
           delete from write.past_run where ended_at < ${longAgo}`,
    values: [now],
  })
}

const longAgo = `$1::timestamptz - interval '90 days'`

/** Returns false if another run holds one of them. */
export async function takeSlots(
  tx: Transaction,
  slots: { engine: string; run_id: string; gpu_indexes: readonly number[] },
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `insert into write.gpu_slot (executor, gpu_index, run_id)
     select $1, gpu_index, $2 from unnest($3::int[]) as gpu_index on conflict do nothing`,
    [slots.engine, slots.run_id, slots.gpu_indexes],
  )
  return rowCount === slots.gpu_indexes.length
}

/** SQL: whether GPU hours of this UTC day are left to the owner of quota `q`, of all series and of this one; each argument is SQL. */
export function hoursLeft({ owner, series, now }: Record<'owner' | 'series' | 'now', string>) {
  const today = `date_trunc('day', ${now}::timestamptz, 'UTC')`
  const isLeft = (limit: string, counted: string) => `(coalesce(${limit}, 0) = 0 or ${limit} > (
    select coalesce(sum(u.gpus * extract(epoch from
             coalesce(u.ended_at, ${now}::timestamptz) - greatest(u.started_at, ${today}))), 0) / 3600
      from write.gpu_use u
     where u.username = ${owner} and ${counted} and (u.ended_at is null or u.ended_at > ${today})))`
  const ofSeries = isLeft(
    `(q.per_series -> ${series} ->> 'daily_gpu_hours')::float8`,
    `u.series = ${series}`,
  )
  return `${isLeft('q.daily_gpu_hours', 'true')} and ${ofSeries}`
}
