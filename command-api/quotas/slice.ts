import type { Slice } from '../slice.ts'
import { raiseEnder } from './raise.ts'
import { quotaRoutes } from './routes.ts'

export const quotas: Slice = {
  name: 'quotas',
  routes: quotaRoutes,
  reactors: [raiseEnder],
  kind: null,
  announces: {
    quota: 'nothing',
  },
  tables: ['write.quota'],
  examples: {
    bodies: {
      'POST /api/admin/quotas': {
        username: 'ada',
        max_concurrent_gpus: 8,
        max_concurrent_jobs: 4,
        allowed_profiles: ['local'],
      },
    },
  },
}
