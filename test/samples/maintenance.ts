import type { Sample } from './sample.ts'

export const maintenanceSample: Sample = {
  slice: 'maintenance',
  changes: {
    'PUT /api/admin/maintenance': { body: () => ({ enabled: true, message: 'back soon' }) },
  },
}
