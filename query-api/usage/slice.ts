import type { Slice } from '../slice.ts'
import { type Tables, usageRoutes } from './routes.ts'

export const usage: Slice<Tables> = {
  name: 'usage',
  routes: ({ reads, now }) => usageRoutes(reads, now),
  pages: [{ path: '/usage', summary: 'What was used, and what it cost' }],
  examples: {
    queries: { 'GET /api/usage': { group: 'project', from: '2026-11-01', to: '2026-11-30' } },
  },
}
