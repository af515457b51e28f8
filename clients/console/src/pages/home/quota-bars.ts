import type { Me } from '../../session/session.ts'

export type Bar = {
  name: 'gpus' | 'jobs' | 'hours' | 'storage'
  used: string
  /** Null: unlimited. */
  limit: number | null
  fraction: number | null
}

/** How much of a person's quota is used. For hours and storage a limit of 0 means unlimited; for GPUs and jobs it means none. */
export function barsOf({ quota, usage }: Pick<Me, 'quota' | 'usage'>): Bar[] {
  const unlimited = (limit: number) => (limit === 0 ? null : limit)
  return [
    barOf('gpus', String(usage.concurrent_gpus), quota.max_concurrent_gpus),
    barOf('jobs', String(usage.concurrent_jobs), quota.max_concurrent_jobs),
    barOf('hours', usage.gpu_hours_today, unlimited(quota.daily_gpu_hours)),
    barOf('storage', usage.storage_gb, unlimited(quota.max_storage_gb)),
  ]
}

const barOf = (name: Bar['name'], used: string, limit: number | null): Bar => ({
  name,
  used: String(Number(Number(used).toFixed(2))),
  limit,
  fraction: limit === null ? null : limit === 0 ? 1 : Number(used) / limit,
})
