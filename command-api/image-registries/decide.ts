import { isDeepStrictEqual } from 'node:util'
import type { ImageRegistryEvent } from '../../events/image-registries.ts'

/** Prefixes `host[/path]`; an installation begins with none. */
export type ImageRegistries = readonly string[]
export const noRegistries: ImageRegistries = []

export function evolve(_: ImageRegistries, event: ImageRegistryEvent): ImageRegistries {
  switch (event.type) {
    case 'image_registries.set':
      return event.data.registries
  }
}

/** The same prefixes in whatever order, however often, change nothing. */
export function setRegistries(
  registries: ImageRegistries,
  wanted: readonly string[],
): ImageRegistryEvent[] {
  const sorted = [...new Set(wanted)].sort()
  return isDeepStrictEqual(registries, sorted)
    ? []
    : [{ type: 'image_registries.set', data: { registries: sorted } }]
}
