import { type Static, Type } from 'typebox'
import { quotaInput } from '../schemas/quotas.ts'
import { aggregate, type EventOf, event } from './event.ts'
import { count } from './words.ts'

/** An admin set a user's quota; the event has the whole quota, not the difference. */
export const quotaSet = event(
  'quota.set',
  Type.Object({ ...quotaInput.properties }),
  ({ username, max_concurrent_gpus, max_concurrent_jobs, daily_gpu_hours }, who) =>
    `${who} set the quota of ${username}: ${count(max_concurrent_gpus, 'GPU')} and ${count(max_concurrent_jobs, 'job')} at once, ${daily_gpu_hours === 0 ? 'unlimited' : daily_gpu_hours} GPU hours a day`,
)

export type QuotaEvent = EventOf<typeof quotaSet>

/** The quota that was set last; null if none was. */
export type SetQuota = Static<typeof quotaSet.data> | null

function evolve(_: SetQuota, event: QuotaEvent): SetQuota {
  switch (event.type) {
    case 'quota.set':
      return event.data
  }
}

export const quotas = aggregate('quota', { events: [quotaSet], initial: null, evolve })
export const quotaAt = (username: string) => quotas.at(username)
