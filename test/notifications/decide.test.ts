import test from 'ava'
import {
  type Message,
  markRead,
  maxUnread,
  mute,
  notify,
  unmute,
} from '../../command-api/notifications/decide.ts'
import { type NotificationEvent, notifications } from '../../events/notifications.ts'
import { maxMutes } from '../../schemas/notifications.ts'
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

const muted = (what: string): NotificationEvent => ({
  type: 'notification.muted',
  data: { username: 'alice', what },
})
const unmuted = (what: string): NotificationEvent => ({
  type: 'notification.unmuted',
  data: { username: 'alice', what },
})

test('nothing is sent about a muted kind, run or project, until it is unmuted', t => {
  for (const what of ['kind:job_failed', 'run:run_1', 'project:math']) {
    t.deepEqual(notify(after(muted(what)), about('a')), [], what)
    t.deepEqual(notify(after(muted(what), unmuted(what)), about('a')), [sent('a')])
  }
  const others = after(muted('kind:job_stopped'), muted('run:run_2'), muted('project:mat'))
  t.deepEqual(notify(others, about('a')), [sent('a')])
})

test('muting twice appends one event, and the number of mutes is limited', t => {
  t.deepEqual(mute(after(), 'alice', 'run:run_1'), [muted('run:run_1')])
  t.deepEqual(mute(after(muted('run:run_1')), 'alice', 'run:run_1'), [])
  t.deepEqual(unmute(after(muted('run:run_1')), 'alice', 'run:run_1'), [unmuted('run:run_1')])
  t.deepEqual(unmute(after(), 'alice', 'run:run_1'), [])
  const most = after(...Array.from({ length: maxMutes }, (_, nth) => muted(`run:run_${nth}`)))
  t.throws(() => mute(most, 'alice', 'run:another'), { message: /unmute something first/ })
})

test('the state survives JSON, as a snapshot must', t => {
  const feed = after(sent('a'), sent('b', 'b', 2), read('a'), muted('run:run_2'))
  t.deepEqual(JSON.parse(JSON.stringify(feed)), feed)
})
