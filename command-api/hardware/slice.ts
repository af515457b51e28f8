import type { Slice } from '../slice.ts'
import { hardwareRoutes } from './routes.ts'

export const hardware: Slice = {
  name: 'hardware',
  routes: hardwareRoutes,
  kind: null,
  examples: {
    bodies: {
      'POST /api/ingest/hardware': {
        run_id: 'demo-1',
        points: [
          { ts: '2026-11-20T19:26:53+00:00', node: 'n1', scope: 'gpu', index: 0, util_pct: 97 },
          { ts: '2026-11-20T19:26:53+00:00', node: 'n1', scope: 'host', cpu_pct: 41 },
        ],
      },
    },
  },
}
