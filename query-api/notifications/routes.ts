import type { Route } from '../../auth/route.ts'
import type { NotificationTables } from '../../projector/notifications/table.ts'
import {
  mute,
  muteListQuery,
  notification,
  notificationListQuery,
} from '../../schemas/notifications.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'
import { list } from '../reading/list.ts'
import { asCaller, type Reads } from '../reading/reads.ts'
import { entryColumns, toEntry } from './entry.ts'

export const notificationRoutes = (reads: Reads<NotificationTables>): Route[] => [
  list({
    ...asCaller(reads),
    path: '/api/notifications',
    tag: 'notifications',
    summary: 'List your notifications, newest first',
    query: notificationListQuery,
    row: notification,
    matching: ({ db }, { caller, query: { unread } }) =>
      db
        .selectFrom('notifications')
        // Limits admins to their own notifications: row-level security lets them read everybody's.
        .where('username', '=', caller.username)
        .$if(unread !== undefined, own => own.where('read_at', unread ? 'is' : 'is not', null)),
    select: own =>
      own.select(entryColumns).orderBy('created_at', 'desc').orderBy('notification_id', 'desc'),
    shape: rows => rows.map(toEntry),
  }),
  list({
    ...asCaller(reads),
    path: '/api/notifications/mutes',
    tag: 'notifications',
    summary: 'List the kinds, runs and projects that you muted, oldest first',
    query: muteListQuery,
    row: mute,
    matching: ({ db }, { caller }) =>
      db.selectFrom('notification_mutes').where('username', '=', caller.username),
    select: own => own.select(['what', 'since']).orderBy('since').orderBy('what'),
    shape: rows => rows.map(({ what, since }) => ({ what, since: toTimestamp(since) })),
  }),
]
