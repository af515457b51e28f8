import { until } from '../servers/until.ts'
import { withoutOwner } from './missing-id.ts'
import type { Sample, SignedIn } from './sample.ts'
import { asked, type Send, signIn } from './send.ts'

type Entry = { notification_id: string }

const toldWithinMs = 30_000

/** The warning that a refresh token was used twice, which people can cause for themselves. */
export const notificationSample: Sample = {
  slice: 'notifications',
  async make({ send, ask, owner }) {
    await ask({ method: 'POST', path: '/api/notifications/mute', body: { what: 'project:none' } })
    return { nouns: { notifications: { notification_id: await warn(send, owner) } } }
  },
  missing: ({ nouns }) => ({
    nouns: {
      notifications: { notification_id: withoutOwner(nouns.notifications?.notification_id) },
    },
  }),
  hidden: ['notifications'],
  lists: { '/api/notifications': 'the caller', '/api/notifications/mutes': 'the caller' },
  tables: {
    notifications: {
      seenBy: 'owner alone',
      isFilled: true,
      cells: ({ no }) => ({ notification_id: `ntf_${no}`, change: no }),
    },
    notification_mutes: {
      seenBy: 'owner alone',
      isFilled: true,
      cells: ({ no }) => ({ what: `run:run_${no}` }),
    },
  },
  changes: {
    'POST /api/notifications/{notification_id}/read': {
      path: async ({ send, people: { operator } }) =>
        `/api/notifications/${await warn(send, operator)}/read`,
    },
    'POST /api/notifications/unmute': {
      async body({ send, people: { operator } }) {
        const body = { what: 'project:unmuted' }
        await asked(send, operator, { method: 'POST', path: '/api/notifications/mute', body })
        return body
      },
    },
  },
}

/** Returns the id of an unread warning. */
async function warn(send: Send, owner: SignedIn): Promise<string> {
  const { cookie } = await signIn(send, owner)
  const next = await refreshed(send, cookie)
  await refreshed(send, next)
  await refreshed(send, cookie)
  const { notification_id } = await until('the owner is warned', toldWithinMs, async () => {
    const path = '/api/notifications?unread=true'
    const [entry] = await asked<Entry[]>(send, owner, { method: 'GET', path })
    return entry
  })
  return notification_id
}

/** The cookie that replaces this one; empty if it was refused. */
async function refreshed(send: Send, cookie: string): Promise<string> {
  const { headers } = await send({ method: 'POST', path: '/api/auth/refresh', headers: { cookie } })
  return headers.getSetCookie()[0]?.split(';')[0] ?? ''
}
