import { type Static, Type } from 'typebox'
import { byName, closed, pageQuery } from './shared.ts'

/** An upper bound far above any real cluster that fits every column it is stored in. */
const count = (fallback?: number) =>
  Type.Integer({
    minimum: 0,
    maximum: 1_000_000_000,
    ...(fallback !== undefined && { default: fallback }),
  })

const seriesCap = closed({
  max_concurrent_gpus: Type.Optional(count()),
  daily_gpu_hours: Type.Optional(Type.Number({ minimum: 0 })),
})

const limits = {
  max_concurrent_gpus: count(8),
  max_concurrent_jobs: count(4),
  /** 0: unlimited. */
  daily_gpu_hours: Type.Number({ minimum: 0, default: 0 }),
  /** 0: unlimited. */
  max_storage_gb: Type.Number({ minimum: 0, default: 0 }),
  /** Empty: all. */
  allowed_profiles: Type.Array(Type.String(), { default: [] }),
  priority: count(0),
  /** By GPU series, e.g. `{"H100": {"max_concurrent_gpus": 8}}`. */
  per_series: byName(seriesCap, { default: {} }),
}

/** The body of `POST /api/admin/quotas` (specification, "Quota (per user)"). */
export const quotaInput = closed({ username: Type.String({ minLength: 1 }), ...limits })
export type QuotaInput = Static<typeof quotaInput>

/** `default` is true until a quota is set for the user. */
export const quota = Type.Object({ ...limits, default: Type.Boolean() })
export type Quota = Static<typeof quota>

/** A row of `GET /api/admin/quotas`. */
export const quotaRow = Type.Object({ username: Type.String(), ...quota.properties })
export const quotaListQuery = closed(pageQuery)
export const quotaPath = Type.Object({ username: Type.String({ maxLength: 256 }) })

/** The quota of a user for whom none was set. */
export const defaultQuota: Quota = {
  max_concurrent_gpus: 8,
  max_concurrent_jobs: 4,
  daily_gpu_hours: 0,
  max_storage_gb: 0,
  allowed_profiles: [],
  priority: 0,
  per_series: {},
  default: true,
}
