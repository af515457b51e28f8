import { Type } from 'typebox'
import { type EventOf, event } from './event.ts'

/** From now on images of jobs may come from these prefixes, in their order by name, and no others. */
export const imageRegistriesSet = event(
  'image_registries.set',
  Type.Object({ registries: Type.Array(Type.String()) }),
)

export const imageRegistryEvents = [imageRegistriesSet] as const
export type ImageRegistryEvent = EventOf<(typeof imageRegistryEvents)[number]>

/** An installation has one list. */
export const imageRegistryStream = 'image_registries-all'
