import type { QuotaEvent, SetQuota } from '../../events/quotas.ts'
import type { QuotaRaise } from '../../schemas/approvals.ts'
import { defaultQuota, type QuotaInput } from '../../schemas/quotas.ts'

/** The limits that a raise may set. */
const raisable = [
  'max_concurrent_gpus',
  'max_concurrent_jobs',
  'daily_gpu_hours',
  'max_storage_gb',
] as const
/** 0 means unlimited in these. */
const unlimited: readonly string[] = ['daily_gpu_hours', 'max_storage_gb']

/** The quota in force: what an admin set, or the default, with all raises. */
export function limitsOf({ limits, raises }: SetQuota, username: string): QuotaInput {
  const { default: _, ...standard } = defaultQuota
  const before: QuotaInput = limits ?? { username, ...standard }
  return raises.reduce((quota, { raise }) => raised(quota, raise), before)
}

function raised(quota: QuotaInput, raise: QuotaRaise): QuotaInput {
  const higher = raisable.flatMap(limit => {
    const wanted = raise[limit]
    const isFree = quota[limit] === 0 && unlimited.includes(limit)
    return wanted === null || isFree || wanted <= quota[limit] ? [] : [[limit, wanted] as const]
  })
  return { ...quota, ...Object.fromEntries(higher) }
}

export type Raise = { request_id: string; raise: QuotaRaise; until: string }

/** If its end has passed before it was approved, nothing is raised. */
export function raiseQuota(
  quota: SetQuota,
  { username, ...asked }: Raise & { username: string },
  now: Date,
): QuotaEvent[] {
  const isKnown = quota.raises.some(({ request_id }) => request_id === asked.request_id)
  if (isKnown || Date.parse(asked.until) <= now.getTime()) return []
  const after = limitsOf({ ...quota, raises: [...quota.raises, asked] }, username)
  return [{ type: 'quota.raised', data: { ...after, ...asked } }]
}

export function endRaise(
  quota: SetQuota,
  { username, request_id }: { username: string; request_id: string },
): QuotaEvent[] {
  const raises = quota.raises.filter(one => one.request_id !== request_id)
  if (raises.length === quota.raises.length) return []
  return [
    {
      type: 'quota.raise_ended',
      data: { ...limitsOf({ ...quota, raises }, username), request_id },
    },
  ]
}
