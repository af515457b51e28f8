import { commit } from '../../command-api/commit/commit.ts'
import { type BillingEvent, billingAt } from '../../events/billing.ts'
import { eventStoreOn } from '../servers/event-store.ts'
import { until } from '../servers/until.ts'
import type { Sample } from './sample.ts'

/** The stored gigabyte of a day, in the owner's project. */
export const billingSample: Sample = {
  slice: 'billing',
  async make({ owner, made, pool, ask }) {
    const project = String(made.fields.project)
    const starts_at = `${new Date().toISOString().slice(0, 10)}T00:00:00.000Z`
    const day = starts_at.slice(0, 10)
    const entry_id = `storage:${day}:${owner.username}:${project}`
    const by = { actor: { type: 'system', id: 'test', via: 'test' }, requestId: 'test' } as const
    const deps = { store: eventStoreOn(pool), now: () => new Date() }
    await commit(deps, by, billingAt(entry_id), {
      decide: (): BillingEvent[] => [
        {
          type: 'billing.entry',
          data: {
            ...{ entry_id, kind: 'storage', owner: owner.username, project, run_id: null, day },
            starts_at,
            ends_at: new Date(Date.parse(starts_at) + 86_400_000).toISOString(),
            ...{ byte_ms: '86400000000000000', price_per_gb_month: '0.02', cost_micro: '667' },
            ...{ corrects: null, reason: '' },
          },
        },
      ],
    })
    await until('the entry can be read', 30_000, async () => {
      const entries = await ask<{ entry_id: string }[]>({
        method: 'GET',
        path: '/api/billing/entries?kind=storage',
      })
      return entries.some(entry => entry.entry_id === entry_id)
    })
    return { fields: { entry_id } }
  },
  missing: (_, whose) => ({ fields: { entry_id: `storage:none:${whose}` } }),
  lists: {
    '/api/billing/entries': 'its people',
    '/api/billing/summary': 'its people',
    '/api/billing/export': 'its people',
  },
  tables: {
    billing_entries: {
      seenBy: 'members',
      isFilled: true,
      cells: ({ no }) => ({ entry_id: `storage:${no}` }),
    },
  },
}
