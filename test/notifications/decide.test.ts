import test from 'ava'
import {
  type Message,
  markRead,
  maxUnread,
  notify,
} from '../../command-api/notifications/decide.ts'
import { type NotificationEvent, notifications } from '../../events/notifications.ts'
import { folded } from '../folded.ts'

const about = (notification_id: string, group_key = notification_id): Message => ({
  username: 'alice',
  notification_id,
  kind: 'job_failed',
  level: 'error',
  title: 'math-1 failed',
  body: '',
  target: { type: 'job', id: 'run_1' },
  url: '/runs/run_1',
  actor: 'forge',
  group_key,
})
const sent = (id: string, group_key = id, count = 1): NotificationEvent => ({
  type: 'notification.sent',
  data: { ...about(id, group_key), count },
})
const read = (...notification_ids: string[]): NotificationEvent => ({
  type: 'notification.read',
  data: { username: 'alice', notification_ids },
})
const after = (...events: NotificationEvent[]) => folded(notifications, events)

test('the first notification of a group is a new entry', t =>
  t.deepEqual(notify(after(sent('a')), about('b')), [sent('b')]))

test('a repeat of an unread group replaces the entry and increments its count', t =>
  t.deepEqual(notify(after(sent('a', 'job'), sent('a', 'job', 2)), about('b', 'job')), [
    sent('a', 'job', 3),
  ]))

test('a repeat of a read group is a new entry', t =>
  t.deepEqual(notify(after(sent('a', 'job'), read('a')), about('b', 'job')), [sent('b', 'job')]))

test(`the oldest entry is marked read if more than ${maxUnread} would be unread`, t => {
  const many = Array.from({ length: maxUnread }, (_, n) => sent(`n${n}`))
  t.deepEqual(notify(after(...many.slice(1)), about('new')), [sent('new')])
  t.deepEqual(notify(after(...many), about('new')), [read('n0'), sent('new')])
})

test('reading an entry twice marks it read once', t => {
  t.deepEqual(markRead(after(sent('a'), sent('b')), 'alice', ['a']), [read('a')])
  t.deepEqual(markRead(after(sent('a'), read('a')), 'alice', ['a']), [])
  t.deepEqual(markRead(after(sent('a')), 'alice', ['unknown']), [])
})

test('reading all marks all unread entries read in one event', t => {
  const feed = after(sent('a'), sent('b'), read('a'), sent('c'))
  t.deepEqual(markRead(feed, 'alice', null), [read('b', 'c')])
  t.deepEqual(markRead(after(), 'alice', null), [])
})

test('the state survives JSON, as a snapshot must', t => {
  const feed = after(sent('a'), sent('b', 'b', 2), read('a'))
  t.deepEqual(JSON.parse(JSON.stringify(feed)), feed)
})
