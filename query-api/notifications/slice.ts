import type { NotificationTables } from '../../projector/notifications/table.ts'
import type { Slice } from '../slice.ts'
import { notificationRoutes } from './routes.ts'
import { notificationTopic } from './topic.ts'

export const notifications: Slice<NotificationTables> = {
  name: 'notifications',
  routes: ({ reads }) => notificationRoutes(reads),
  topic: { place: 1, of: notificationTopic },
  pages: [{ path: '/notifications', summary: 'What happened' }],
}
