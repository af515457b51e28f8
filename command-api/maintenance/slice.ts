import type { Slice } from '../slice.ts'
import { maintenanceRoutes } from './routes.ts'

export const maintenance: Slice<{
  /** Makes every process read the maintenance switch; resolves once this one has. */
  maintenanceSwitched: () => Promise<void>
}> = {
  name: 'maintenance',
  routes: (deps, { maintenanceSwitched }) => maintenanceRoutes(deps, maintenanceSwitched),
  kind: null,
  announces: {
    maintenance: 'nothing',
  },
  unprojected: ['admin.maintenance_on', 'admin.maintenance_off'],
  tables: ['auth.maintenance'],
  examples: {
    bodies: { 'PUT /api/admin/maintenance': { enabled: false } },
  },
}
