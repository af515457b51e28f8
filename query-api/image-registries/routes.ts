import type { Pool } from 'pg'
import { type Route, route } from '../../auth/route.ts'
import { imageRegistries } from '../../schemas/profiles.ts'

/** `pool` can read the schema `write`: the list has no read model. */
export const imageRegistryRoutes = (pool: Pool): Route[] => [
  route({
    method: 'GET',
    path: '/api/admin/image-registries',
    credential: 'admin',
    tag: 'admin',
    summary: 'Registries that job images may come from',
    response: imageRegistries,
    async handle() {
      const { rows } = await pool.query('select prefix from write.image_registry order by prefix')
      return { registries: rows.map(row => row.prefix) }
    },
  }),
]
