import { type Static, Type } from 'typebox'
import { aggregate, type EventOf, event } from './event.ts'

/** An admin set prices from a time on. */
export const ratesSet = event(
  'rates.set',
  Type.Object({
    version: Type.Integer({ minimum: 1 }),
    effective_at: Type.String(),
    /** The price of a GPU hour by series; profiles of other series keep theirs. */
    gpu: Type.Record(Type.String(), Type.String()),
    storage_per_gb_month: Type.String(),
    /** Versions that would have begun at that time or later, and never will. */
    replaced: Type.Array(Type.Integer({ minimum: 1 })),
  }),
  ({ version, effective_at, gpu }, who) =>
    `${who} set version ${version} of the rates from ${effective_at} on: ${Object.keys(gpu).join(', ') || 'no series'}`,
)

export type RatesEvent = EventOf<typeof ratesSet>
export type RatesVersion = Omit<Static<typeof ratesSet.data>, 'replaced'>

/** `planned`: versions that had not begun when the last one was set, in order of time. */
export type RateCard = { last: number; planned: { version: number; effective_at: string }[] }

function evolve({ planned }: RateCard, { data }: RatesEvent): RateCard {
  const { version, effective_at, replaced } = data
  const kept = planned.filter(one => !replaced.includes(one.version))
  return { last: version, planned: [...kept, { version, effective_at }] }
}

export const rates = aggregate('rates', {
  events: [ratesSet],
  initial: { last: 0, planned: [] },
  evolve,
})
/** An installation has one card. */
export const rateCard = rates.at('card')
