import type { Kysely } from 'kysely'
import { sql } from 'kysely'
import type { NotificationTables } from '../../projector/notifications/table.ts'
import type { Reads } from '../reading/reads.ts'
import type { Feed } from '../sse/feed.ts'
import { rowFeed } from '../sse/row-feed.ts'
import type { Topic } from '../sse/topic.ts'
import { entryColumns, toEntry } from './entry.ts'

const atOnce = 200

/** `notifications`: the caller's own, as `alert` events whenever one is sent, repeated or read. */
export const notificationTopic = (reads: Reads<NotificationTables>): Topic => ({
  pattern: /^notifications$/,
  shape: "'notifications'",
  async open(caller) {
    const db = reads.as(caller)
    return {
      feed: notificationFeed(db, caller.username),
      start: await newestNotification(db),
      // People never lose access to their own; the stream itself notices an ended sign-in.
      check: async () => {},
    }
  },
})

const notificationFeed = (db: Kysely<NotificationTables>, username: string): Feed =>
  rowFeed({
    key: `notifications of ${username}`,
    wakes: { projections: ['decisions'], key: `notifications-${username}` },
    event: 'alert',
    atOnce,
    async rowsAfter(after) {
      const head = await newestNotification(db)
      const rows = await db
        .selectFrom('notifications')
        .select([...entryColumns, 'change'])
        .where('username', '=', username)
        .where('change', '>', after)
        .where('change', '<=', head)
        .orderBy('change')
        .limit(atOnce)
        .execute()
      return { rows, head: Math.max(after, head) }
    },
    content: ({ change: _, ...row }) => toEntry(row),
  })

async function newestNotification(db: Kysely<NotificationTables>): Promise<number> {
  const { rows } = await sql<{ change: number }>`
    select newest_notification() as change`.execute(db)
  return rows[0]?.change ?? 0
}
