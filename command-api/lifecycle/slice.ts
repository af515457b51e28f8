import type { Slice } from '../slice.ts'
import { lifecycleRoutes, type Reporters } from './routes.ts'

export const lifecycle: Slice<{ reporters: Reporters }> = {
  name: 'lifecycle',
  routes: (deps, { reporters }) => lifecycleRoutes(deps, reporters),
  kind: null,
  examples: {
    bodies: { 'POST /api/ingest/lifecycle': { run_id: 'demo-1', event: 'running' } },
  },
}
