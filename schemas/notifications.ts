import { type Static, Type } from 'typebox'
import { alertKinds } from './alerts.ts'
import { closed, nullable, oneOf, pageQuery, timestamp } from './shared.ts'

/** Clients must tolerate kinds that they do not know. */
export const notificationKinds = [
  'job_succeeded',
  'job_failed',
  'job_stopped',
  'job_paused',
  'job_retrying',
  'approval_requested',
  'approval_decided',
  'quota_changed',
  'budget_threshold',
  'role_changed',
  'session_ended',
  'maintenance',
  'dataset_ready',
  'dataset_invalid',
  'volume_cleanup',
  ...alertKinds,
] as const

/** The subject of a notification; null for the installation as a whole. */
export const notificationTarget = nullable(Type.Object({ type: Type.String(), id: Type.String() }))

/** The content of a notification, without its recipient. */
export const notificationContent = {
  kind: oneOf(...notificationKinds),
  level: oneOf('info', 'warn', 'error'),
  title: Type.String(),
  body: Type.String(),
  target: notificationTarget,
  /** Path of the page about it; null without one. */
  url: nullable(Type.String()),
  /** The actor that caused it. */
  actor: Type.String(),
  /** A new notification replaces an unread one of the same group and increments its count. */
  group_key: Type.String(),
}

/** One entry of the feed. `created_at` and the text are those of the newest of its `count` notifications. */
export const notification = Type.Object({
  notification_id: Type.String(),
  ...notificationContent,
  created_at: timestamp(),
  read_at: nullable(timestamp()),
  count: Type.Integer({ minimum: 1 }),
})
export type Notification = Static<typeof notification>

/** `unread=true`: only those not read yet; `false`: only read ones. */
export const notificationListQuery = closed({
  ...pageQuery,
  unread: Type.Optional(Type.Boolean()),
})

export const notificationInPath = Type.Object({
  notification_id: Type.String({ minLength: 1, maxLength: 128 }),
})

/** `count`: how many this request marked read (specification, "Notifications"). */
export const markedRead = Type.Object({ ok: Type.Boolean(), count: Type.Integer({ minimum: 0 }) })

/** Most mutes of a person. */
export const maxMutes = 200

/** A mute: `kind:job_failed`, `run:run_01…`, `project:vision`. */
const muteText = () =>
  Type.String({ pattern: '^(kind|run|project):[A-Za-z0-9_.-]+$', maxLength: 200 })

export const muteInput = closed({ what: muteText() })
/** The mute that was added or removed. */
export const muteReply = Type.Object({ ok: Type.Literal(true), what: Type.String() })
export const muteListQuery = closed(pageQuery)
export const mute = Type.Object({ what: Type.String(), since: timestamp() })
export type Mute = Static<typeof mute>
