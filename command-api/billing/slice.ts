import type { Slice } from '../slice.ts'
import { billingRoutes } from './routes.ts'
import { storageMeter } from './storage.ts'

export const billing: Slice = {
  name: 'billing',
  routes: billingRoutes,
  reactors: [storageMeter],
  kind: null,
  announces: { billing: 'nothing' },
  examples: {
    bodies: {
      'POST /api/billing/corrections': {
        entry_id: 'run_01J00000000000000000000000.0',
        cost: '-1.25',
        reason: 'The node was broken',
      },
    },
  },
}
