import { planPath } from '../../schemas/plans.ts'
import type { Slice } from '../slice.ts'
import { planRoutes, type Tables } from './routes.ts'

export const plans: Slice<Tables> = {
  name: 'plans',
  routes: ({ reads }) => planRoutes(reads),
  pages: [
    { path: '/plans', summary: 'Plans: jobs and sweeps that start one after the other' },
    { path: '/plans/{plan_id}', summary: 'A plan', params: planPath },
  ],
}
