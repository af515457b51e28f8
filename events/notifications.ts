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

const muteData = Type.Object({ username: Type.String(), what: Type.String() })

/** The person is no longer notified of a kind, a run or a project. */
export const notificationMuted = event(
  'notification.muted',
  muteData,
  ({ username, what }, who) => `${who} muted ${what} for ${username}`,
)

/** The person is notified of it again. */
export const notificationUnmuted = event(
  'notification.unmuted',
  muteData,
  ({ username, what }, who) => `${who} unmuted ${what} for ${username}`,
)

export type NotificationEvent =
  | EventOf<typeof notificationSent>
  | EventOf<typeof notificationRead>
  | EventOf<typeof notificationMuted>
  | EventOf<typeof notificationUnmuted>
export type NotificationSent = Static<typeof notificationSent.data>

export type Feed = {
  /** Oldest first. */
  unread: Pick<NotificationSent, 'notification_id' | 'group_key' | 'count'>[]
  /** Mutes, oldest first. */
  muted: string[]
}

function evolve(feed: Feed, { type, data }: Stamped<NotificationEvent>): Feed {
  const { unread, muted } = feed
  switch (type) {
    case 'notification.sent': {
      const { notification_id, group_key, count } = data
      const others = unread.filter(entry => entry.notification_id !== notification_id)
      return { ...feed, unread: [...others, { notification_id, group_key, count }] }
    }
    case 'notification.read': {
      const read = new Set(data.notification_ids)
      return { ...feed, unread: unread.filter(({ notification_id }) => !read.has(notification_id)) }
    }
    case 'notification.muted':
      return { ...feed, muted: [...muted, data.what] }
    case 'notification.unmuted':
      return { ...feed, muted: muted.filter(what => what !== data.what) }
  }
}

/** One stream for each person. */
export const notifications = aggregate('notifications', {
  events: [notificationSent, notificationRead, notificationMuted, notificationUnmuted],
  initial: { unread: [], muted: [] },
  evolve,
  snapshot: { shape: 2 },
})
export const notificationsOf = ({ username }: { username: string }) => notifications.at(username)
