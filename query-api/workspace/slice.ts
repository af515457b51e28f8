import type { Slice } from '../slice.ts'
import type { Tables } from './deps.ts'
import { workspaceRoutes } from './routes.ts'

export const workspace: Slice<Tables> = {
  name: 'workspace',
  routes: workspaceRoutes,
  examples: {
    queries: {
      'GET /api/projects/{name}/series': {
        keys: 'loss',
        group: 'hparams.lr',
        band: 'std',
        buckets: 500,
      },
      'GET /api/projects/{name}/importance': { metric: 'val/loss:min' },
      'GET /api/projects/{name}/hparam-keys': { q: 'state:succeeded' },
      'GET /api/projects/{name}/metric-keys': { q: 'state:succeeded' },
    },
  },
}
