import { type Route, route } from '../../auth/route.ts'
import { type QuotaEvent, quotaAt } from '../../events/quotas.ts'
import { Refusal } from '../../platform/refusal.ts'
import { type QuotaInput, quota, quotaInput } from '../../schemas/quotas.ts'
import { commit } from '../commit/commit.ts'
import type { Transaction } from '../commit/event-store.ts'
import type { Deps } from '../deps.ts'

export const quotaRoutes = (deps: Deps): Route[] => [
  route({
    method: 'POST',
    path: '/api/admin/quotas',
    credential: 'admin',
    tag: 'admin',
    summary: "Set a user's quota",
    body: quotaInput,
    response: quota,
    refusals: ['not_found'],
    async handle(request) {
      const { body } = request
      await commit(deps, request, quotaAt(body.username), {
        decide: (): QuotaEvent[] => [{ type: 'quota.set', data: body }],
        alongside: (tx, { now }) => saveQuota(tx, body, now),
      })
      const { username: _, ...limits } = body
      return { ...limits, default: false }
    },
  }),
]

async function saveQuota(tx: Transaction, limits: QuotaInput, now: Date): Promise<void> {
  const { rowCount } = await tx.query('select 1 from auth.person where username = $1', [
    limits.username,
  ])
  if (rowCount === 0) throw new Refusal('not_found', `No such user: ${limits.username}`)
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
