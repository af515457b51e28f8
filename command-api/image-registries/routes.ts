import { type Route, route } from '../../auth/route.ts'
import { imageRegistryList } from '../../events/image-registries.ts'
import { imageRegistries } from '../../schemas/profiles.ts'
import { commit } from '../commit/commit.ts'
import type { Transaction } from '../commit/event-store.ts'
import type { Deps } from '../deps.ts'
import { setRegistries } from './decide.ts'

export const imageRegistryRoutes = (deps: Deps): Route[] => [
  route({
    method: 'PUT',
    path: '/api/admin/image-registries',
    credential: 'admin',
    recentSignIn: true,
    tag: 'admin',
    summary: 'Set where images of jobs may come from; none: nowhere but the recipes',
    body: imageRegistries,
    response: imageRegistries,
    async handle(request) {
      const { state } = await commit(deps, request, imageRegistryList, {
        decide: registries => setRegistries(registries, request.body.registries),
        alongside: (tx, { state }) => saveRegistries(tx, state),
      })
      return { registries: state }
    },
  }),
]

async function saveRegistries(tx: Transaction, registries: readonly string[]): Promise<void> {
  await tx.query('delete from write.image_registry')
  await tx.query('insert into write.image_registry (prefix) select unnest($1::text[])', [
    registries,
  ])
}
