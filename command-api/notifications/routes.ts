import { type Route, route } from '../../auth/route.ts'
import { notificationsOf } from '../../events/notifications.ts'
import { Refusal } from '../../platform/refusal.ts'
import {
  markedRead,
  muteInput,
  muteReply,
  notificationInPath,
} from '../../schemas/notifications.ts'
import type { HttpAsked } from '../commit/asked.ts'
import { commit } from '../commit/commit.ts'
import type { Deps } from '../deps.ts'
import { markRead, mute, unmute } from './decide.ts'

export const notificationRoutes = (deps: Deps): Route[] => [
  route({
    method: 'POST',
    path: '/api/notifications/read-all',
    credential: 'person',
    tag: 'notifications',
    summary: 'Mark all your notifications read',
    response: markedRead,
    async handle(request) {
      const { username } = request.caller
      const { events } = await commit(deps, request, notificationsOf({ username }), {
        decide: feed => markRead(feed, username, null),
      })
      return { ok: true, count: countOf(events) }
    },
  }),
  route({
    method: 'POST',
    path: '/api/notifications/{notification_id}/read',
    credential: 'person',
    reach: 'self',
    tag: 'notifications',
    summary: 'Mark one of your notifications read',
    params: notificationInPath,
    response: markedRead,
    refusals: ['not_found'],
    async handle(request) {
      const { username } = request.caller
      const { notification_id } = request.params
      await refuseUnknown(deps, username, notification_id)
      const { events } = await commit(deps, request, notificationsOf({ username }), {
        decide: feed => markRead(feed, username, [notification_id]),
      })
      return { ok: true, count: countOf(events) }
    },
  }),
  route({
    method: 'POST',
    path: '/api/notifications/mute',
    credential: 'person',
    tag: 'notifications',
    summary: 'Mute the notifications of a kind, a run or a project',
    body: muteInput,
    response: muteReply,
    refusals: ['conflict'],
    handle: request => changeMutes(deps, request, mute),
  }),
  route({
    method: 'POST',
    path: '/api/notifications/unmute',
    credential: 'person',
    tag: 'notifications',
    summary: 'Remove one of your mutes',
    body: muteInput,
    response: muteReply,
    handle: request => changeMutes(deps, request, unmute),
  }),
]

type OnMute = HttpAsked & { caller: { username: string }; body: { what: string } }

async function changeMutes(deps: Deps, request: OnMute, change: typeof mute) {
  const { username } = request.caller
  const { what } = request.body
  await commit(deps, request, notificationsOf({ username }), {
    decide: feed => change(feed, username, what),
  })
  return { ok: true as const, what }
}

const countOf = (events: readonly { data: object }[]): number =>
  events.reduce(
    (sum, { data }) =>
      sum + ('notification_ids' in data ? [data.notification_ids].flat().length : 0),
    0,
  )

/** The state of the stream holds only unread entries, so a read entry is looked up among the events. */
async function refuseUnknown({ pool }: Deps, username: string, id: string): Promise<void> {
  const { rowCount } = await pool.query(
    `select 1 from write.event
      where stream = $1 and type = 'notification.sent' and data ->> 'notification_id' = $2 limit 1`,
    [notificationsOf({ username }).stream, id],
  )
  if (rowCount === 0) throw new Refusal('not_found', `No such notification: ${id}`)
}
