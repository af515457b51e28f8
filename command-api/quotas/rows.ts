import type { QuotaEvent } from '../../events/quotas.ts'
import type { Transaction } from '../commit/event-store.ts'

/** Each event has the whole quota. */
export async function saveQuota(
  tx: Transaction,
  { events, now }: { events: readonly QuotaEvent[]; now: Date },
): Promise<void> {
  for (const { data: limits } of events)
    await tx.query(
      `insert into write.quota (username, max_concurrent_gpus, max_concurrent_jobs, daily_gpu_hours,
                                max_storage_gb, allowed_profiles, priority, per_series, set_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
       on conflict (username) do update set
         max_concurrent_gpus = excluded.max_concurrent_gpus, max_concurrent_jobs = excluded.max_concurrent_jobs,
         daily_gpu_hours = excluded.daily_gpu_hours, max_storage_gb = excluded.max_storage_gb,
         allowed_profiles = excluded.allowed_profiles, priority = excluded.priority,
         per_series = excluded.per_series, set_at = excluded.set_at`,
      [
        limits.username,
        limits.max_concurrent_gpus,
        limits.max_concurrent_jobs,
        limits.daily_gpu_hours,
        limits.max_storage_gb,
        limits.allowed_profiles,
        limits.priority,
        JSON.stringify(limits.per_series),
        now,
      ],
    )
}
