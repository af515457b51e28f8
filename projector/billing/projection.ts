import type { BillingEvent } from '../../events/billing.ts'
import type { Handlers } from '../projection.ts'
import type { BillingTables } from './table.ts'

export const billingProjection: Handlers<BillingTables, BillingEvent> = {
  'billing.entry': (tx, { data }) =>
    tx
      .insertInto('billing_entries')
      .values(data)
      .onConflict(on => on.column('entry_id').doNothing())
      .execute(),
}
