import type { Slice } from '../slice.ts'
import { metricRoutes, type Tables } from './routes.ts'
import { metricTopic } from './topic.ts'

export const metrics: Slice<Tables> = {
  name: 'metrics',
  routes: metricRoutes,
  topic: { place: 3, of: metricTopic },
  examples: { queries: { 'GET /api/runs/{run_id}/metrics': { keys: 'loss', buckets: 200 } } },
}
