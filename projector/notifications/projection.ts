import { sql } from 'kysely'
import type { NotificationEvent } from '../../events/notifications.ts'
import type { Handlers } from '../projection.ts'
import type { NotificationTables } from './table.ts'

/** Retention (contract, "Limits and retention"); measured in event time, so that a replay gives the same rows. */
const keptDays = 90

/** The next number. With a single writer it follows the log and is the same after a replay. */
const nextChange = sql<number>`(select coalesce(max(change), 0) + 1 from notifications)`

export const notificationProjection: Handlers<NotificationTables, NotificationEvent> = {
  'notification.sent': async (tx, { data, occurred_at }) => {
    await sql`delete from notifications where username = ${data.username}
      and created_at < ${occurred_at}::timestamptz - make_interval(days => ${keptDays})`.execute(tx)
    const content = {
      ...data,
      target: data.target && JSON.stringify(data.target),
      created_at: occurred_at,
      read_at: null,
      change: nextChange,
    }
    await tx
      .insertInto('notifications')
      .values(content)
      .onConflict(on => on.column('notification_id').doUpdateSet(content))
      .execute()
  },
  'notification.read': (tx, { data, occurred_at }) =>
    sql`
      with last as (select coalesce(max(change), 0) as change from notifications),
           read as (select n.notification_id, row_number() over (order by n.notification_id) as nth
                      from notifications n
                     where n.notification_id = any(${data.notification_ids})
                       and n.username = ${data.username})
      update notifications n set read_at = ${occurred_at}, change = last.change + read.nth
        from read, last where n.notification_id = read.notification_id`.execute(tx),
  'notification.muted': async (tx, { data: { username, what }, occurred_at }) => {
    await tx
      .insertInto('notification_mutes')
      .values({ username, what, since: occurred_at })
      .onConflict(on => on.doNothing())
      .execute()
  },
  'notification.unmuted': async (tx, { data: { username, what } }) => {
    await tx
      .deleteFrom('notification_mutes')
      .where('username', '=', username)
      .where('what', '=', what)
      .execute()
  },
}
