import { Type } from 'typebox'
import type { Slice } from '../slice.ts'
import { runRoutes, type Tables } from './routes.ts'

const run_id = Type.String({ minLength: 1, maxLength: 128 })

export const runs: Slice<Tables> = {
  name: 'runs',
  routes: ({ reads, now }) => runRoutes(reads, now),
  pages: [
    { path: '/runs', summary: 'All runs' },
    { path: '/runs/{run_id}', summary: 'A run', params: Type.Object({ run_id }) },
    {
      path: '/runs/{run_id}/{tab}',
      summary: 'A part of a run: its metrics, log, hardware, samples, …',
      params: Type.Object({ run_id, tab: Type.String({ minLength: 1, maxLength: 32 }) }),
    },
  ],
  examples: {
    paths: { 'runs.tab': 'metrics' },
    queries: {
      'GET /api/runs': { project: 'demo', sort: '-created_at', limit: 20 },
      'GET /api/runs/compare': { ids: 'demo-1,demo-2' },
      'GET /api/runs/by-project': { q: 'state:failed' },
      'GET /api/runs/names': { of: 'metrics', contains: 'loss', limit: 20 },
    },
  },
}
