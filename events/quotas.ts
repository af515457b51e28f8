import { type Static, Type } from 'typebox'
import { type QuotaRaise, quotaRaise } from '../schemas/approvals.ts'
import { quotaInput } from '../schemas/quotas.ts'
import { timestamp } from '../schemas/shared.ts'
import { aggregate, type EventOf, event } from './event.ts'
import { count } from './words.ts'

/** An admin set a user's quota; the event has the whole quota, not the difference. */
export const quotaSet = event(
  'quota.set',
  Type.Object({ ...quotaInput.properties }),
  ({ username, max_concurrent_gpus, max_concurrent_jobs, daily_gpu_hours }, who) =>
    `${who} set the quota of ${username}: ${count(max_concurrent_gpus, 'GPU')} and ${count(max_concurrent_jobs, 'job')} at once, ${daily_gpu_hours === 0 ? 'unlimited' : daily_gpu_hours} GPU hours a day`,
)

/** A raise was approved: the quota until it ends. The event has the whole new quota. */
export const quotaRaised = event(
  'quota.raised',
  Type.Object({
    ...quotaInput.properties,
    request_id: Type.String(),
    raise: quotaRaise,
    until: timestamp(),
  }),
  ({ username, until, max_concurrent_gpus }, who) =>
    `${who} raised the quota of ${username} until ${until}: ${count(max_concurrent_gpus, 'GPU')} at once`,
)

/** A raise ended; the event has the whole new quota. */
export const quotaRaiseEnded = event(
  'quota.raise_ended',
  Type.Object({ ...quotaInput.properties, request_id: Type.String() }),
  ({ username, max_concurrent_gpus }, who) =>
    `${who} ended a raise of the quota of ${username}: ${count(max_concurrent_gpus, 'GPU')} at once`,
)

const events = [quotaSet, quotaRaised, quotaRaiseEnded] as const
export type QuotaEvent = EventOf<(typeof events)[number]>

/** `limits`: as an admin set them last, null if none did; `raises` are in force until they end. */
export type SetQuota = {
  limits: Static<typeof quotaSet.data> | null
  raises: readonly { request_id: string; raise: QuotaRaise; until: string }[]
}

function evolve(quota: SetQuota, event: QuotaEvent): SetQuota {
  switch (event.type) {
    case 'quota.set':
      // What an admin sets is the last word.
      return { limits: event.data, raises: [] }
    case 'quota.raised': {
      const { request_id, raise, until } = event.data
      return { ...quota, raises: [...quota.raises, { request_id, raise, until }] }
    }
    case 'quota.raise_ended': {
      const { request_id } = event.data
      return { ...quota, raises: quota.raises.filter(one => one.request_id !== request_id) }
    }
  }
}

const initial: SetQuota = { limits: null, raises: [] }

export const quotas = aggregate('quota', { events, initial, evolve })
export const quotaAt = (username: string) => quotas.at(username)
