import { isDeepStrictEqual } from 'node:util'
import type { ImageRegistries, ImageRegistryEvent } from '../../events/image-registries.ts'

/** Idempotent: the same set of prefixes appends no event. */
export function setRegistries(
  registries: ImageRegistries,
  wanted: readonly string[],
): ImageRegistryEvent[] {
  const sorted = [...new Set(wanted)].sort()
  return isDeepStrictEqual(registries, sorted)
    ? []
    : [{ type: 'image_registries.set', data: { registries: sorted } }]
}
