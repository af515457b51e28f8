import type { Pool } from 'pg'
import { readMaintenance } from '../../auth/maintenance.ts'
import { type Route, route } from '../../auth/route.ts'
import { maintenance } from '../../schemas/maintenance.ts'

/** `pool` can read the schema `auth`. */
export const maintenanceRoutes = (pool: Pool): Route[] => [
  route({
    method: 'GET',
    path: '/api/admin/maintenance',
    credential: 'admin',
    tag: 'admin',
    summary: 'Whether maintenance is on, since when and with what message',
    response: maintenance,
    handle: () => readMaintenance(pool),
  }),
]
