import type { Slice } from '../slice.ts'
import { planRuns } from './follow.ts'
import { planKind } from './kind.ts'
import type { PlanParts } from './ports.ts'
import { planRoutes } from './routes.ts'
import { planExpiry } from './watch.ts'

export const plans: Slice<{ planParts: PlanParts }> = {
  name: 'plans',
  routes: (deps, { planParts }) => planRoutes(deps, planParts),
  reactors: [planExpiry],
  newFollowers: () => [planRuns()],
  kind: planKind,
  announces: { plan: 'nothing' },
  tables: ['write.plan', 'write.plan_part'],
  examples: {
    paths: { 'plans.plan_id': 'pln_01J00000000000000000000000' },
    bodies: lock => ({
      'POST /api/plans': {
        spec: {
          api: 'forge/v2',
          metadata: { name: 'first', project: 'demo' },
          lock,
          spec: { params: { lr: 0.01 } },
        },
      },
    }),
  },
}
