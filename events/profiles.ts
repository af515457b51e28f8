import { type Static, Type } from 'typebox'
import { profile } from '../schemas/profiles.ts'
import { type EventOf, event } from './event.ts'

/** Hardware jobs can ask for got its description or its price, or another one; the whole of it. */
export const profileSet = event('profile.set', Type.Object({ ...profile.properties }))

export const profileEvents = [profileSet] as const
export type ProfileEvent = EventOf<(typeof profileEvents)[number]>
export type ProfileFacts = Static<typeof profileSet.data>
export const profileStream = (name: string) => `profile-${name}`
