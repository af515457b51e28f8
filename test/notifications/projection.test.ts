import test from 'ava'
import type { Recorded } from '../../events/event.ts'
import type { NotificationEvent } from '../../events/notifications.ts'
import { database } from '../servers/postgres.ts'
import { project } from '../servers/project.ts'

/** Numbers the events of one person's stream. */
function streamOf(username: string) {
  let version = 0
  return (event: NotificationEvent, occurred_at: string): Recorded => ({
    ...event,
    event_id: `01900000-0000-7000-8000-${String(++version).padStart(12, '0')}`,
    schema_version: 1,
    stream: `notifications-${username}`,
    stream_version: version,
    occurred_at,
    actor: { type: 'system', id: 'notify', via: 'duty' },
    request_id: 'r',
    causation_id: null,
  })
}
const sent = (username: string, notification_id: string, count = 1): NotificationEvent => ({
  type: 'notification.sent',
  data: {
    username,
    notification_id,
    kind: 'job_failed',
    level: 'error',
    title: `${notification_id} failed`,
    body: '',
    target: { type: 'job', id: 'run_1' },
    url: null,
    actor: 'forge',
    group_key: notification_id,
    count,
  },
})
const read = (username: string, ...notification_ids: string[]): NotificationEvent => ({
  type: 'notification.read',
  data: { username, notification_ids },
})
const day = (nth: number) => new Date(Date.UTC(2026, 0, nth)).toISOString()

test('an entry is replaced when it is sent again, and every change moves the cursor', async t => {
  const { pool } = await database(t)
  const [alice, bob] = [streamOf('alice'), streamOf('bob')]
  await project(pool, [
    alice(sent('alice', 'a'), day(1)),
    bob(sent('bob', 'b'), day(1)),
    alice(sent('alice', 'a', 2), day(2)),
    alice(sent('alice', 'c'), day(3)),
    alice(read('alice', 'a', 'c'), day(4)),
  ])
  const { rows } = await pool.query(
    `select notification_id as id, count, created_at, read_at, change, target
       from read.notifications order by notification_id`,
  )
  t.deepEqual(rows, [
    {
      id: 'a',
      count: 2,
      created_at: new Date(day(2)),
      read_at: new Date(day(4)),
      change: 5,
      target: { type: 'job', id: 'run_1' },
    },
    { ...rows[1], id: 'b', count: 1, read_at: null, change: 2 },
    { ...rows[2], id: 'c', read_at: new Date(day(4)), change: 6 },
  ])
})

test("a person's entries older than 90 days of event time are deleted", async t => {
  const { pool } = await database(t)
  const [alice, bob] = [streamOf('alice'), streamOf('bob')]
  await project(pool, [
    alice(sent('alice', 'old'), day(1)),
    bob(sent('bob', 'kept'), day(1)),
    alice(sent('alice', 'newer'), day(2)),
    alice(sent('alice', 'newest'), day(92)),
  ])
  const { rows } = await pool.query(
    'select notification_id as id from read.notifications order by created_at, id',
  )
  t.deepEqual(
    rows.map(row => row.id),
    ['kept', 'newer', 'newest'],
  )
})

test('a mute is a row until it is removed', async t => {
  const { pool } = await database(t)
  const [alice, bob] = [streamOf('alice'), streamOf('bob')]
  const mute = (username: string, what: string): NotificationEvent => ({
    type: 'notification.muted',
    data: { username, what },
  })
  const data = { username: 'alice', what: 'run:run_1' }
  await project(pool, [
    alice(mute('alice', 'run:run_1'), day(1)),
    bob(mute('bob', 'run:run_1'), day(1)),
    alice(mute('alice', 'project:math'), day(2)),
    alice({ type: 'notification.unmuted', data }, day(3)),
  ])
  const { rows } = await pool.query(
    'select username, what, since from read.notification_mutes order by username',
  )
  t.deepEqual(rows, [
    { username: 'alice', what: 'project:math', since: new Date(day(2)) },
    { username: 'bob', what: 'run:run_1', since: new Date(day(1)) },
  ])
})
