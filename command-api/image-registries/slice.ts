import type { Slice } from '../slice.ts'
import { imageRegistryRoutes } from './routes.ts'

export const imageRegistries: Slice = {
  name: 'image-registries',
  routes: imageRegistryRoutes,
  kind: null,
  announces: {
    image_registries: 'nothing',
  },
  unprojected: ['image_registries.set'],
  tables: ['write.image_registry'],
  examples: {
    bodies: { 'PUT /api/admin/image-registries': { registries: ['registry.example.com/team'] } },
  },
}
