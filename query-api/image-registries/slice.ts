import type { Slice } from '../slice.ts'
import { imageRegistryRoutes } from './routes.ts'

export const imageRegistries: Slice = {
  name: 'image-registries',
  routes: ({ pool }) => imageRegistryRoutes(pool),
}
