import { type Static, Type } from 'typebox'
import { profile } from '../schemas/profiles.ts'
import { aggregate, type EventOf, event } from './event.ts'

/** A profile was described for the first time or again; the event has the whole description. */
export const profileSet = event(
  'profile.set',
  Type.Object({ ...profile.properties }),
  ({ name, series, gpus_per_node, available, price_per_gpu_hour }, who) =>
    `${who} described profile ${name}: ${gpus_per_node} × ${series} per node at ${price_per_gpu_hour} per GPU hour${available ? '' : ', not available'}`,
)

export type ProfileEvent = EventOf<typeof profileSet>
export type ProfileFacts = Static<typeof profileSet.data>

/** Null before the first description. */
export type Profile = ProfileFacts | null

function evolve(_: Profile, event: ProfileEvent): Profile {
  switch (event.type) {
    case 'profile.set':
      return event.data
  }
}

export const profiles = aggregate('profile', { events: [profileSet], initial: null, evolve })
export const profileAt = (name: string) => profiles.at(name)
