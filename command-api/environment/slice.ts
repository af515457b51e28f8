import type { Slice } from '../slice.ts'
import { environmentRoutes } from './routes.ts'

export const environment: Slice = {
  name: 'environment',
  routes: environmentRoutes,
  kind: null,
  announces: {
    environment: 'nothing',
  },
  examples: {
    bodies: {
      'POST /api/ingest/environment': {
        run_id: 'demo-1',
        python: '3.11.9',
        packages: { torch: '2.9.1' },
        git: { commit: 'c0ffee', dirty: false },
      },
      'POST /api/ingest/environment/nodes': {
        run_id: 'demo-1',
        nodes: [{ node: 'n1', node_rank: 0, gpu_count: 8, nvlink: 'full' }],
      },
    },
  },
}
