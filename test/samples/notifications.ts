import { until } from '../servers/until.ts'
import { withoutOwner } from './missing-id.ts'
import type { Sample } from './sample.ts'
import { type Send, signIn } from './send.ts'

type Entry = { notification_id: string }

const toldWithinMs = 30_000

/** The warning that a refresh token of theirs was used twice: what people can cause for themselves. */
export const notificationSample: Sample = {
  slice: 'notifications',
  async make({ send, owner, ask }) {
    const { cookie } = await signIn(send, owner.username, owner.password)
    const next = await refreshed(send, cookie)
    await refreshed(send, next)
    await refreshed(send, cookie)
    const { notification_id } = await until('the owner is told', toldWithinMs, async () => {
      const entries = await ask<Entry[]>({ method: 'GET', path: '/api/notifications' })
      return entries[0]
    })
    return { nouns: { notifications: { notification_id } } }
  },
  missing: ({ nouns }) => ({
    nouns: {
      notifications: { notification_id: withoutOwner(nouns.notifications?.notification_id) },
    },
  }),
  hidden: ['notifications'],
  lists: { '/api/notifications': 'the caller' },
  tables: {
    notifications: {
      seenBy: 'owner alone',
      isFilled: true,
      cells: ({ no }) => ({ notification_id: `ntf_${no}`, change: no }),
    },
  },
}

/** The cookie that takes the place of this one; empty where it was refused. */
async function refreshed(send: Send, cookie: string): Promise<string> {
  const { headers } = await send({ method: 'POST', path: '/api/auth/refresh', headers: { cookie } })
  return headers.getSetCookie()[0]?.split(';')[0] ?? ''
}
