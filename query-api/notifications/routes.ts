import { Type } from 'typebox'
import { type Route, route } from '../../auth/route.ts'
import type { NotificationTables } from '../../projector/notifications/table.ts'
import { notification, notificationListQuery } from '../../schemas/notifications.ts'
import { countRows, pageHeaders } from '../page.ts'
import type { Reads } from '../reads.ts'
import { entryColumns, toEntry } from './entry.ts'

export const notificationRoutes = (reads: Reads<NotificationTables>): Route[] => [
  route({
    method: 'GET',
    path: '/api/notifications',
    credential: 'person',
    tag: 'notifications',
    summary: 'List your notifications, the newest first',
    query: notificationListQuery,
    response: Type.Array(notification),
    async handle({ caller, query, ctx }) {
      const { limit = 50, offset = 0, unread } = query
      const db = reads.as(caller)
      // Limits admins to their own notifications: row-level security lets them read everybody's.
      let own = db.selectFrom('notifications').where('username', '=', caller.username)
      if (unread !== undefined) own = own.where('read_at', unread ? 'is' : 'is not', null)
      const rows = await own
        .select(entryColumns)
        .orderBy('created_at', 'desc')
        .orderBy('notification_id', 'desc')
        .limit(limit)
        .offset(offset)
        .execute()
      pageHeaders(
        ctx,
        { limit, offset, shown: rows.length },
        await countRows(db, own.select('notification_id')),
      )
      return rows.map(toEntry)
    },
  }),
]
