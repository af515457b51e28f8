import type { Selectable } from 'kysely'
import type { NotificationTables } from '../../projector/notifications/table.ts'
import type { Notification } from '../../schemas/notifications.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'

export type NotificationRow = Omit<
  Selectable<NotificationTables['notifications']>,
  'username' | 'change'
>

export const entryColumns = [
  'notification_id',
  'kind',
  'level',
  'title',
  'body',
  'target',
  'url',
  'actor',
  'created_at',
  'read_at',
  'group_key',
  'count',
] as const

/** A row as the contract shows it (§4.16). */
export const toEntry = ({ created_at, read_at, ...content }: NotificationRow): Notification => ({
  ...content,
  created_at: toTimestamp(created_at),
  read_at: read_at && toTimestamp(read_at),
})
