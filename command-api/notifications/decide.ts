import type { Feed, NotificationEvent, NotificationSent } from '../../events/notifications.ts'
import { Refusal } from '../../platform/refusal.ts'
import { isMuted } from '../../schemas/mutes.ts'
import { maxMutes } from '../../schemas/notifications.ts'

/** Maximum unread entries in the state of a stream; beyond it the oldest are marked read. */
export const maxUnread = 500

export type Message = Omit<NotificationSent, 'count'>

/** Replaces an unread entry of the same group and increments its count, so that repeats stay one entry. A muted message sends nothing. */
export function notify({ unread, muted }: Feed, message: Message): NotificationEvent[] {
  if (isMuted(message, muted)) return []
  const { username, group_key } = message
  const same = unread.find(entry => entry.group_key === group_key)
  if (same) {
    const { notification_id, count } = same
    return [{ type: 'notification.sent', data: { ...message, notification_id, count: count + 1 } }]
  }
  const sent: NotificationEvent = { type: 'notification.sent', data: { ...message, count: 1 } }
  const excess = unread.slice(0, Math.max(0, unread.length + 1 - maxUnread))
  return [...read(username, excess), sent]
}

/** `ids` null: all. Ids of read or unknown entries are ignored. */
export function markRead(
  { unread }: Feed,
  username: string,
  ids: readonly string[] | null,
): NotificationEvent[] {
  return read(
    username,
    unread.filter(({ notification_id }) => ids === null || ids.includes(notification_id)),
  )
}

/** Idempotent: muting it again appends no event. */
export function mute({ muted }: Feed, username: string, what: string): NotificationEvent[] {
  if (muted.includes(what)) return []
  if (muted.length >= maxMutes)
    throw new Refusal('conflict', `Already muted: ${maxMutes}, the most; unmute something first`)
  return [{ type: 'notification.muted', data: { username, what } }]
}

export const unmute = ({ muted }: Feed, username: string, what: string): NotificationEvent[] =>
  muted.includes(what) ? [{ type: 'notification.unmuted', data: { username, what } }] : []

function read(username: string, entries: Feed['unread']): NotificationEvent[] {
  if (entries.length === 0) return []
  const notification_ids = entries.map(({ notification_id }) => notification_id)
  return [{ type: 'notification.read', data: { username, notification_ids } }]
}
