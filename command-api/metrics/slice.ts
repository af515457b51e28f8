import type { Slice } from '../slice.ts'
import { metricRoutes } from './routes.ts'

export const metrics: Slice = {
  name: 'metrics',
  routes: metricRoutes,
  kind: null,
  examples: {
    bodies: {
      'POST /api/ingest/metrics': {
        run_id: 'demo-1',
        points: [{ key: 'loss', step: 1, value: 0.5 }],
      },
    },
  },
}
