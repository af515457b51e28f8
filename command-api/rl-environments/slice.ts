import type { Slice } from '../slice.ts'
import { contentRoute } from './content-route.ts'
import { rlEnvironmentKind } from './kind.ts'
import type { PublishPorts } from './publish.ts'
import { rlEnvironmentRoutes } from './routes.ts'

/** RL environments. Their builds are performed where an executor is (server/roles/executor.ts). */
export const rlEnvironments: Slice<PublishPorts> = {
  name: 'rl-environments',
  routes: (deps, ports) => [...rlEnvironmentRoutes(deps, ports), contentRoute(deps)],
  kind: rlEnvironmentKind,
  announces: {
    rl_environment: 'nothing',
  },
  tables: ['write.rl_environment', 'write.rl_environment_version'],
  examples: {
    paths: {
      'environments.owner': 'ada',
      'environments.name': 'sums',
      'environments.version': '0.2.1',
    },
    queries: {
      'GET /api/ingest/environments/content': {
        ...{ run_id: 'demo-1', environment_ref: 'ada/sums@0.2.1', file: 'environment.tar.gz' },
      },
    },
    bodies: {
      'POST /api/environments': {
        upload_id: 'upl_01J00000000000000000000000',
        deployment: 'dep_01J00000000000000000000000',
      },
      'PATCH /api/environments/{owner}/{name}': { visibility: 'public' },
      'POST /api/environments/{owner}/{name}/{version}/deprecate': {
        reason: 'the verifier accepts wrong answers',
      },
    },
  },
}
