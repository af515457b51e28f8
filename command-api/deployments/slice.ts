import type { DeploymentEvent } from '../../events/deployments.ts'
import type { PlaygroundEvent } from '../../events/playground.ts'
import type { Announced, Slice } from '../slice.ts'
import { deploymentKind } from './kind.ts'
import { playgroundRoutes } from './playground/routes.ts'
import type { FindTemplate } from './ports.ts'
import { deploymentRoutes } from './routes.ts'

export const deployments: Slice<{ findTemplate: FindTemplate }> = {
  name: 'deployments',
  routes: (deps, { findTemplate }) => [
    ...deploymentRoutes(deps, findTemplate),
    ...playgroundRoutes(deps, findTemplate),
  ],
  kind: deploymentKind,
  announces: {
    deployment: {
      'deployment.created': 'serving',
      'deployment.changed': 'serving',
      'deployment.autoscaling_changed': 'serving',
      'deployment.origins_changed': 'serving',
      'deployment.gates_changed': 'none',
      'deployment.gates_overridden': 'none',
      'deployment.revision_created': 'serving',
      'deployment.revision_progressed': 'serving',
      'deployment.revision_ready': 'serving',
      'deployment.revision_not_promoted': 'none',
      'deployment.revision_failed': 'serving',
      'deployment.revision_retired': 'serving',
      'deployment.promoted': 'serving',
      'deployment.rolled_back': 'serving',
      'deployment.state_changed': 'serving',
      'deployment.suspended': 'serving',
      'deployment.deleted': 'serving',
      'deployment.token_created': 'serving',
      'deployment.capture_enabled': 'serving',
      'deployment.token_revoked': 'serving',
    } satisfies Announced<DeploymentEvent>,
    playground: {
      'playground.opened': 'serving',
      'playground.ended': 'serving',
    } satisfies Announced<PlaygroundEvent>,
  },
  unprojected: ['playground.opened', 'playground.ended'],
  tables: [
    'auth.deployment_token',
    'write.deployment_route',
    'write.deployment_state',
    'write.playground_session',
    'write.replica',
    'write.replica_route',
    'write.revision_state',
    'write.serving_epoch',
    'write.serving_load',
  ],
  examples: {
    paths: {
      'deployments.deployment_id': 'dep_01J00000000000000000000000',
      'revisions.revision_id': 'rev_01J00000000000000000000000',
      'tokens.token_id': 'dtk_01J00000000000000000000000',
      'playground.session_id': 'pls_01J00000000000000000000000',
    },
    queries: { 'DELETE /api/deployments/{deployment_id}': { dry_run: 'true' } },
    bodies: {
      'POST /api/playground': {
        source: { revision_id: 'rev_01J00000000000000000000000' },
        idle_timeout_s: 1800,
      },
      'POST /api/deployments': {
        name: 'math-tutor',
        project: 'demo',
        source: { kind: 'external', url: 'http://10.0.0.7:8000' },
      },
      'PATCH /api/deployments/{deployment_id}': {
        replicas: { min: 1, max: 2 },
        allowed_origins: ['https://app.example'],
      },
      'POST /api/deployments/{deployment_id}/revisions': {
        source: { kind: 'external', url: 'http://10.0.0.8:8000' },
      },
      'POST /api/deployments/{deployment_id}/tokens': { name: 'web-app' },
    },
  },
}
