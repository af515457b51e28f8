import type { LogTables } from '../../projector/logs/table.ts'
import type { AccessTables } from '../rules/access.ts'
import type { Slice } from '../slice.ts'
import { logRoutes } from './routes.ts'
import { logTopic } from './topic.ts'

export const logs: Slice<LogTables & AccessTables> = {
  name: 'logs',
  routes: logRoutes,
  topic: { place: 4, of: logTopic },
  examples: { queries: { 'GET /api/runs/{run_id}/logs': { after: 0, limit: 100 } } },
}
