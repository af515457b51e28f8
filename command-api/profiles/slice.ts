import type { Slice } from '../slice.ts'
import { ratesReactor } from './rates.ts'
import { profileRoutes } from './routes.ts'

export const profiles: Slice = {
  name: 'profiles',
  routes: profileRoutes,
  reactors: [ratesReactor],
  kind: null,
  announces: {
    profile: 'nothing',
    rates: 'nothing',
  },
  unprojected: ['profile.set', 'rates.set'],
  tables: ['write.profile', 'write.profile_rate', 'write.rate_version'],
  examples: {
    paths: { 'profiles.name': 'local' },
    bodies: {
      'PUT /api/billing/rates': { gpu: { H200: '3.60' }, storage_per_gb_month: '0.02' },
      'PUT /api/admin/profiles/{name}': { series: 'H200', gpus_per_node: 8, executor: 'local' },
    },
  },
}
