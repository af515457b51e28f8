import { type Route, route } from '../../../auth/route.ts'
import type { Deployment, DeploymentEvent } from '../../../events/deployments.ts'
import { Refusal } from '../../../platform/refusal.ts'
import {
  deploymentChanged,
  deploymentPath,
  promoteInput,
  revisionPath,
  rollbackInput,
} from '../../../schemas/deployments/deployments.ts'
import type { Decided } from '../../commit/commit.ts'
import type { Transaction } from '../../commit/event-store.ts'
import type { Deps } from '../../deps.ts'
import { change, toChange, toReply } from '../change.ts'
import { promote, rollBack } from './decide.ts'

/** Routes that move the pointer to the promoted revision; the address never changes. */
export const pointerRoutes = (deps: Deps): Route[] => [
  route({
    method: 'POST',
    path: '/api/deployments/{deployment_id}/revisions/{revision_id}/promote',
    credential: 'person',
    reach: 'its_people',
    tag: 'deployments',
    summary: 'Send requests to this revision from now on; requests under way end where they began',
    params: revisionPath,
    body: promoteInput,
    bodyMayBeAbsent: true,
    response: deploymentChanged,
    refusals: ['forbidden', 'not_found', 'conflict'],
    async handle(request) {
      const { deployment_id } = await toChange(deps, request)
      const { reason = '', expected_promoted_revision_id: expected } = request.body
      const { revision_id } = request.params
      return toReply(
        await change(deps, request, deployment_id, {
          decide: deployment => promote(deployment, { revision_id, reason, expected }),
          also: refuseWithoutReplica,
        }),
      )
    },
  }),
  route({
    method: 'POST',
    path: '/api/deployments/{deployment_id}/rollback',
    credential: 'person',
    reach: 'its_people',
    tag: 'deployments',
    summary: 'Promote the previously promoted revision again',
    params: deploymentPath,
    body: rollbackInput,
    bodyMayBeAbsent: true,
    response: deploymentChanged,
    refusals: ['forbidden', 'not_found', 'conflict'],
    async handle(request) {
      const { deployment_id } = await toChange(deps, request)
      const { reason = '', to = null } = request.body
      return toReply(
        await change(deps, request, deployment_id, {
          decide: deployment => rollBack(deployment, { to, reason }),
          also: refuseWithoutReplica,
        }),
      )
    },
  }),
]

/** A revision whose replicas have all failed since it became ready would fail requests. */
async function refuseWithoutReplica(
  tx: Transaction,
  { state }: Decided<Deployment, DeploymentEvent>,
): Promise<void> {
  // While the deployment is suspended, no revision serves, promoted or not.
  if (!state || ['suspending', 'suspended'].includes(state.state)) return
  const { rowCount } = await tx.query(
    'select 1 from write.replica_route where revision_id = $1 and is_ready limit 1',
    [state.promoted_revision_id],
  )
  if (!rowCount)
    throw new Refusal('conflict', `No replica of ${state.promoted_revision_id} is responding now`, {
      code: 'deployment.no_replica',
      hint: 'Wait until its replicas have restarted',
    })
}
