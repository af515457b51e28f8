import type { Pool } from 'pg'
import { defaultQuota, type Quota } from '../../schemas/quotas.ts'

/** A person's quota, as the next admission will use it. */
export async function quotaOf(pool: Pool, username: string): Promise<Quota> {
  const { rows } = await pool.query<Omit<Quota, 'default'>>(
    `select max_concurrent_gpus, max_concurrent_jobs, daily_gpu_hours, max_storage_gb, allowed_profiles,
            priority, per_series
       from write.quota where username = $1 and set_at is not null`,
    [username],
  )
  return rows[0] ? { ...rows[0], default: false } : defaultQuota
}
