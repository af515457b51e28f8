import type { Slice } from '../slice.ts'
import { profileRoutes } from './routes.ts'

export const profiles: Slice = {
  name: 'profiles',
  routes: profileRoutes,
  kind: null,
  announces: {
    profile: 'nothing',
  },
  unprojected: ['profile.set'],
  tables: ['write.profile', 'write.profile_rate'],
  examples: {
    paths: { 'profiles.name': 'local' },
    bodies: {
      'PUT /api/admin/profiles/{name}': { series: 'H200', gpus_per_node: 8, executor: 'local' },
    },
  },
}
