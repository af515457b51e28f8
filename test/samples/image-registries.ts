import type { Sample } from './sample.ts'

export const imageRegistrySample: Sample = {
  slice: 'image-registries',
  changes: {
    'PUT /api/admin/image-registries': { body: () => ({ registries: ['registry.example'] }) },
  },
}
