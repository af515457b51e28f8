import type { ColumnType } from 'kysely'
import type { Notification } from '../../schemas/notifications.ts'

export type NotificationTables = {
  notifications: Omit<Notification, 'created_at' | 'read_at' | 'target'> & {
    username: string
    target: ColumnType<Notification['target'], string | null, string | null>
    created_at: ColumnType<Date, string, string>
    read_at: ColumnType<Date | null, string | null, string | null>
    /** Increases with every change of any row; the cursor of the stream. */
    change: number
  }
  notification_mutes: {
    username: string
    what: string
    since: ColumnType<Date, string, never>
  }
}
