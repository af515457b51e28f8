import type { Slice } from '../slice.ts'
import { hardwareAlerts } from './follow-hardware.ts'
import { metricAlerts } from './follow-metrics.ts'
import { findingAlerts } from './perform.ts'
import { alertRoutes } from './routes.ts'
import { deleteAlertsOf } from './rows.ts'

export const alerts: Slice = {
  name: 'alerts',
  routes: alertRoutes,
  reactors: [findingAlerts],
  newFollowers: () => [metricAlerts(), hardwareAlerts()],
  deleteRowsOfRun: deleteAlertsOf,
  kind: null,
  announces: {
    alert: 'nothing',
  },
  tables: ['write.alert_open', 'write.alert_watch'],
  examples: {
    bodies: {
      'POST /api/ingest/alert': {
        run_id: 'demo-1',
        title: 'Reward collapsed',
        level: 'error',
        text: 'mean reward fell from 0.6 to 0.1 within 20 steps',
      },
    },
  },
}
