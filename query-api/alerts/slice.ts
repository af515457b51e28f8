import type { AlertTables } from '../../projector/alerts/table.ts'
import type { AccessTables } from '../rules/access.ts'
import type { Slice } from '../slice.ts'
import { alertRoutes } from './routes.ts'
import { alertTopic } from './topic.ts'

export const alerts: Slice<AlertTables & AccessTables> = {
  name: 'alerts',
  routes: ({ reads }) => alertRoutes(reads),
  topic: { place: 2, of: alertTopic },
}
