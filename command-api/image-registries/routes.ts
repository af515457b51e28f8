import { type Route, route } from '../../platform/http/route.ts'
import { imageRegistries } from '../../schemas/profiles.ts'
import type { Deps } from '../deps.ts'

export const imageRegistryRoutes = (deps: Deps): Route[] => [
  route({
    method: 'GET',
    path: '/api/admin/image-registries',
    credential: 'admin',
    tag: 'admin',
    summary: 'Where images of jobs may come from',
    response: imageRegistries,
    handle: async () => ({ registries: await readRegistries(deps) }),
  }),
  route({
    method: 'PUT',
    path: '/api/admin/image-registries',
    credential: 'admin',
    tag: 'admin',
    summary: 'Set where images of jobs may come from; none: nowhere but the recipes',
    body: imageRegistries,
    response: imageRegistries,
    async handle({ body }) {
      await deps.store.transaction(async tx => {
        await tx.query('delete from write.image_registry')
        await tx.query(
          'insert into write.image_registry (prefix) select distinct unnest($1::text[])',
          [body.registries],
        )
      })
      return { registries: await readRegistries(deps) }
    },
  }),
]

async function readRegistries({ pool }: Deps): Promise<string[]> {
  const { rows } = await pool.query('select prefix from write.image_registry order by prefix')
  return rows.map(row => row.prefix)
}
