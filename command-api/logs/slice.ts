import type { Slice } from '../slice.ts'
import { logRoutes } from './routes.ts'

export const logs: Slice = {
  name: 'logs',
  routes: logRoutes,
  kind: null,
  examples: {
    bodies: { 'POST /api/ingest/logs': { run_id: 'demo-1', chunks: ['epoch 1, loss 0.5\n'] } },
  },
}
