import type { QuotaEvent } from '../../events/quotas.ts'
import type { QuotaInput } from '../../schemas/quotas.ts'

/** The quota that was set last; null: nobody has set one. */
export type SetQuota = QuotaInput | null

export function evolve(_: SetQuota, event: QuotaEvent): SetQuota {
  switch (event.type) {
    case 'quota.set':
      return event.data
  }
}
