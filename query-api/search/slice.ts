import type { Slice } from '../slice.ts'
import { searchRoute, type Tables } from './routes.ts'

export const search: Slice<Tables> = {
  name: 'search',
  routes: deps => [searchRoute(deps)],
  pages: [{ path: '/search', summary: 'Everything that one search finds' }],
  examples: {
    queries: { 'GET /api/search': { q: 'reward project:demo', type: 'run,model', limit: 5 } },
  },
}
