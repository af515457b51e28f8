import type { Slice } from '../slice.ts'
import { dutyRoutes } from './routes.ts'

export const duties: Slice = {
  name: 'duties',
  routes: dutyRoutes,
  kind: null,
  announces: {
    duty: 'nothing',
  },
  unprojected: ['duty.retried', 'duty.dropped'],
  tables: ['write.duty', 'write.schedule'],
  examples: {
    paths: { 'duties.duty_id': '01234567-89ab-4cde-8f01-23456789abcd' },
  },
}
