import type { Job } from '../../events/job-state.ts'
import type { JobEvent } from '../../events/jobs.ts'
import type { Deps } from '../deps.ts'
import { isActive } from './limits.ts'

/** A price of a job's profile that the job's events do not contain yet. */
export type NewPrice = { price_per_gpu_hour: string; effective_at: Date }

/** Bills the running attempt at these prices from their time on. Does nothing if no attempt is running. */
export function reprice(job: Job, prices: readonly NewPrice[]): JobEvent[] {
  if (!isActive(job)) return []
  const known = job.rates.at(-1)?.since ?? ''
  return prices
    .map(price => ({ ...price, effective_at: price.effective_at.toISOString() }))
    .filter(({ effective_at }) => effective_at > known)
    .map(price => ({ type: 'job.repriced', data: { ...job.subject, ...price } }))
}

/** The prices that have begun and that a job's events do not contain yet, oldest first. */
export async function readNewPrices(
  { pool, now }: Pick<Deps, 'pool' | 'now'>,
  run_id: string,
): Promise<NewPrice[]> {
  const { rows } = await pool.query<NewPrice>({
    name: 'new_prices',
    text: `select r.price_per_gpu_hour::text, r.effective_at
             from write.job_state j
             join write.profile_rate r on r.profile = j.profile and r.effective_at > j.priced_at
                                       and r.effective_at <= $2
            where j.run_id = $1 order by r.effective_at`,
    values: [run_id, now()],
  })
  return rows
}

/** Jobs with an attempt that may be running at a price their events do not contain yet. */
export const toReprice = `select run_id from write.job_state j
                           where is_active and exists (
                             select from write.profile_rate r
                              where r.profile = j.profile and r.effective_at > j.priced_at
                                and r.effective_at <= $2) limit $1`
