import type { Person } from '../../auth/caller.ts'
import type { NotificationTables } from '../../projector/notifications/table.ts'
import type { Reads } from '../reading/reads.ts'

/** The number of unread notifications of a person, for `GET /api/auth/me`. */
export const countUnread =
  (reads: Reads<NotificationTables>) =>
  async (caller: Person): Promise<number> => {
    const { unread } = await reads
      .as(caller)
      .selectFrom('notifications')
      .select(eb => eb.fn.countAll<number>().as('unread'))
      .where('username', '=', caller.username)
      .where('read_at', 'is', null)
      .executeTakeFirstOrThrow()
    return unread
  }
