import type { Slice } from '../slice.ts'
import { queueRoutes, type Tables } from './routes.ts'

export const queue: Slice<Tables> = {
  name: 'queue',
  routes: queueRoutes,
  pages: [{ path: '/queue', summary: 'What runs, and what waits for what' }],
  examples: { paths: { 'queue.run_id': 'demo-1' } },
}
