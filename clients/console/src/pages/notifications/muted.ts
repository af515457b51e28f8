import type { Mute } from '../../../../../schemas/notifications.ts'
import { reading, reread } from '../../session/api.ts'
import { request } from '../../session/session.ts'

const path = '/api/notifications/mutes'

/** The mutes of the person; entries that were there before stay, and are hidden. */
export const readingMutes = reading<Mute[]>(path, { limit: 200 })

const changing = (route: 'mute' | 'unmute') => async (what: string) => {
  await request('POST', `/api/notifications/${route}`, { body: { what } })
  await reread('/api/notifications')
}
export const mute = changing('mute')
export const unmute = changing('unmute')
