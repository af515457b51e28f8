import type { Kysely } from 'kysely'
import type { QuotaEvent } from '../../events/quotas.ts'
import type { QuotaInput } from '../../schemas/quotas.ts'
import type { Handlers } from '../projection.ts'
import type { QuotaTables } from './table.ts'

export const quotaProjection: Handlers<QuotaTables, QuotaEvent> = {
  'quota.set': (tx, { data }) => save(tx, data),
  'quota.raised': (tx, { data: { request_id: _, raise: _raise, until: _until, ...quota } }) =>
    save(tx, quota),
  'quota.raise_ended': (tx, { data: { request_id: _, ...quota } }) => save(tx, quota),
}

function save(tx: Kysely<QuotaTables>, { username, ...limits }: QuotaInput) {
  const quota = JSON.stringify(limits)
  return tx
    .insertInto('quotas')
    .values({ username, quota })
    .onConflict(on => on.column('username').doUpdateSet({ quota }))
    .execute()
}
