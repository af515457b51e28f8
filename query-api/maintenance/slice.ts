import type { Slice } from '../slice.ts'
import { maintenanceRoutes } from './routes.ts'

export const maintenance: Slice = {
  name: 'maintenance',
  routes: ({ pool }) => maintenanceRoutes(pool),
}
