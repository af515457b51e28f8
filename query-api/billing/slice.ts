import type { BilledTables } from '../rules/billed.ts'
import type { Slice } from '../slice.ts'
import { billingRoutes } from './routes.ts'

export const billing: Slice<BilledTables> = {
  name: 'billing',
  routes: billingRoutes,
  pages: [{ path: '/billing', summary: 'Bills and budgets' }],
  examples: {
    queries: {
      'GET /api/billing/entries': { month: '2026-11', project: 'demo' },
      'GET /api/billing/summary': { month: '2026-11', group: 'user' },
      'GET /api/billing/export': { month: '2026-11', format: 'focus' },
    },
  },
}
