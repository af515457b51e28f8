import { Type } from 'typebox'
import { quotaInput } from '../schemas/quotas.ts'
import { type EventOf, event } from './event.ts'

/** An admin set what a user may hold; the whole quota, not the difference. */
export const quotaSet = event('quota.set', Type.Object({ ...quotaInput.properties }))

export const quotaEvents = [quotaSet] as const
export type QuotaEvent = EventOf<(typeof quotaEvents)[number]>
export const quotaStream = (username: string) => `quota-${username}`
