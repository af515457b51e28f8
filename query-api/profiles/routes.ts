import type { Pool } from 'pg'
import { Type } from 'typebox'
import { type Route, route } from '../../auth/route.ts'
import { profile } from '../../schemas/profiles.ts'

/** `pool` can read the schema `write`: profiles have no read model. */
export const profileRoutes = (pool: Pool): Route[] => [
  route({
    method: 'GET',
    path: '/api/profiles',
    credential: 'person',
    tag: 'profiles',
    summary: 'List the hardware jobs can ask for',
    response: Type.Array(profile),
    async handle() {
      const { rows } = await pool.query(
        `select name, series, gpus_per_node, max_nodes, cpus, memory_gb, executor, container, available,
                price_per_gpu_hour::text from write.profile order by name`,
      )
      return rows
    },
  }),
]
