import type { Slice } from '../slice.ts'
import { streamRoutes } from './routes.ts'

export const streams: Slice = {
  name: 'streams',
  routes: streamRoutes,
  examples: { queries: { 'GET /api/stream': { topics: 'jobs,notifications' } } },
}
