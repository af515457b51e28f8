import type { Slice } from '../slice.ts'
import { hparamsRoutes } from './routes.ts'

export const hparams: Slice = {
  name: 'hparams',
  routes: hparamsRoutes,
  kind: null,
  announces: {
    hparams: 'nothing',
  },
  examples: {
    bodies: {
      'POST /api/ingest/hparams': { run_id: 'demo-1', params: { lr: 0.01, optimizer: 'adam' } },
    },
  },
}
