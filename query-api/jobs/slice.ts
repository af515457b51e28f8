import type { Slice } from '../slice.ts'
import { jobRoutes, type Tables } from './routes.ts'

export const jobs: Slice<Tables> = {
  name: 'jobs',
  routes: jobRoutes,
  examples: { queries: { 'GET /api/jobs': { state: 'running', limit: 20 } } },
}
