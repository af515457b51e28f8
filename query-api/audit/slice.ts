import type { Slice } from '../slice.ts'
import { auditRoutes } from './routes.ts'
import type { RunEventTables } from './run-events.ts'

export const audit: Slice<RunEventTables> = {
  name: 'audit',
  routes: auditRoutes,
  examples: {
    queries: {
      'GET /api/runs/{run_id}/events': { limit: 100, offset: 0 },
      'GET /api/audit': { target: 'user:ada', since: '2026-11-01T00:00:00+00:00' },
      'GET /api/audit/state': { target: 'user:ada', at: '2026-11-20T12:00:00+00:00' },
      'GET /api/audit/diff': {
        target: 'user:ada',
        from: '2026-11-01T00:00:00+00:00',
        to: '2026-11-20T12:00:00+00:00',
      },
    },
  },
}
