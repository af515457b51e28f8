import type { QuotaEvent } from '../../events/quotas.ts'
import type { Handlers } from '../projection.ts'
import type { QuotaTables } from './table.ts'

export const quotaProjection: Handlers<QuotaTables, QuotaEvent> = {
  'quota.set': (tx, { data: { username, ...limits } }) => {
    const quota = JSON.stringify(limits)
    return tx
      .insertInto('quotas')
      .values({ username, quota })
      .onConflict(on => on.column('username').doUpdateSet({ quota }))
      .execute()
  },
}
