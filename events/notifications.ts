import { type Static, Type } from 'typebox'
import { notificationContent } from '../schemas/notifications.ts'
import { aggregate, type EventOf, event, type Stamped } from './event.ts'

/** A person was notified. A repeat with the same id replaces the unread entry; `count` is the number of repeats. */
export const notificationSent = event(
  'notification.sent',
  Type.Object({
    username: Type.String(),
    notification_id: Type.String(),
    ...notificationContent,
    count: Type.Integer({ minimum: 1 }),
  }),
  ({ username, title }, who) => `${who} notified ${username}: ${title}`,
)

/** These were marked as read, by the person or because there were too many unread ones (oldest first). */
export const notificationRead = event(
  'notification.read',
  Type.Object({
    username: Type.String(),
    notification_ids: Type.Array(Type.String(), { minItems: 1 }),
  }),
  ({ username, notification_ids: { length } }, who) =>
    `${who} marked ${length === 1 ? 'a notification' : `${length} notifications`} of ${username} read`,
)

export type NotificationEvent = EventOf<typeof notificationSent> | EventOf<typeof notificationRead>
export type NotificationSent = Static<typeof notificationSent.data>

/** A person's unread notifications, oldest first. */
export type Feed = { unread: Pick<NotificationSent, 'notification_id' | 'group_key' | 'count'>[] }

function evolve({ unread }: Feed, { type, data }: Stamped<NotificationEvent>): Feed {
  switch (type) {
    case 'notification.sent': {
      const { notification_id, group_key, count } = data
      const others = unread.filter(entry => entry.notification_id !== notification_id)
      return { unread: [...others, { notification_id, group_key, count }] }
    }
    case 'notification.read': {
      const read = new Set(data.notification_ids)
      return { unread: unread.filter(({ notification_id }) => !read.has(notification_id)) }
    }
  }
}

/** One stream for each person. */
export const notifications = aggregate('notifications', {
  events: [notificationSent, notificationRead],
  initial: { unread: [] },
  evolve,
  snapshot: { shape: 1 },
})
export const notificationsOf = ({ username }: { username: string }) => notifications.at(username)
