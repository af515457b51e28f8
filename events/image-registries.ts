import { Type } from 'typebox'
import { aggregate, type EventOf, event } from './event.ts'

/** From now on, images of jobs may come only from these prefixes, sorted by name. */
export const imageRegistriesSet = event(
  'image_registries.set',
  Type.Object({ registries: Type.Array(Type.String()) }),
  ({ registries }, who) =>
    registries.length === 0
      ? `${who} allowed images from the recipes only`
      : `${who} allowed images from ${registries.join(', ')} only`,
)

export type ImageRegistryEvent = EventOf<typeof imageRegistriesSet>

/** Prefixes `host[/path]`; none in a new installation. */
export type ImageRegistries = readonly string[]

function evolve(_: ImageRegistries, event: ImageRegistryEvent): ImageRegistries {
  switch (event.type) {
    case 'image_registries.set':
      return event.data.registries
  }
}

export const imageRegistries = aggregate('image_registries', {
  events: [imageRegistriesSet],
  initial: [],
  evolve,
})
/** An installation has one list. */
export const imageRegistryList = imageRegistries.at('all')
