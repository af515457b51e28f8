import type { Slice } from '../slice.ts'
import { notifier } from './perform.ts'
import { notificationRoutes } from './routes.ts'

export const notifications: Slice = {
  name: 'notifications',
  routes: notificationRoutes,
  reactors: [notifier],
  kind: null,
  announces: {
    notifications: 'nothing',
  },
  examples: {
    paths: { 'notifications.notification_id': 'ntf_01J00000000000000000000000' },
    bodies: {
      'POST /api/notifications/mute': { what: 'project:vision' },
      'POST /api/notifications/unmute': { what: 'project:vision' },
    },
  },
}
