import type { Person } from '../../../auth/caller.ts'
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
import { inWords, overridesGate } from '../../rules/benchmark-gate.ts'
import { change, toChange, toReply } from '../change.ts'
import type { Made } from '../living.ts'
import { promote, rollBack } from './decide.ts'
import { findFailures, foreseeFailures, refuseRevision } from './gates.ts'
import { refuseByPlugins } from './plugins.ts'

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
    refusals: ['invalid', 'forbidden', 'not_found', 'conflict'],
    async handle(request) {
      const found = await toChange(deps, request)
      const { deployment_id } = found
      const { reason = '', expected_promoted_revision_id: expected } = request.body
      const { revision_id } = request.params
      const overridden = await overriddenBy(deps, request, {
        ...found,
        candidate: () => revision_id,
      })
      await refuseByPlugins(deps, {
        ...{ deployment_id, revision_id, reason },
        by: request.caller.username,
      })
      return toReply(
        await change(deps, request, deployment_id, {
          decide: deployment => promote(deployment, { revision_id, reason, expected, overridden }),
          also: refuseUnfit(deps, request.caller, overridden),
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
    refusals: ['invalid', 'forbidden', 'not_found', 'conflict'],
    async handle(request) {
      const found = await toChange(deps, request)
      const { deployment_id } = found
      const { reason = '', to = null } = request.body
      const overridden = await overriddenBy(deps, request, { ...found, candidate: () => to })
      if (to !== null)
        await refuseByPlugins(deps, {
          ...{ deployment_id, revision_id: to, reason },
          by: request.caller.username,
          isRollback: true,
        })
      return toReply(
        await change(deps, request, deployment_id, {
          decide: deployment => rollBack(deployment, { to, reason, overridden }),
          also: refuseUnfit(deps, request.caller, overridden),
        }),
      )
    },
  }),
]

type Overriding = {
  deployment_id: string
  mayConfigure: boolean
  candidate: (deployment: Made) => string | null
}

/** The failures that the request overrides; later ones are refused. */
async function overriddenBy(
  deps: Deps,
  { body }: { body: { override_gates?: boolean; reason?: string } },
  { deployment_id, mayConfigure, candidate }: Overriding,
): Promise<string[]> {
  if (!overridesGate(body, { mayOverride: mayConfigure, noun: 'deployment' })) return []
  const { failures } = await foreseeFailures(deps, deployment_id, candidate)
  return failures.map(inWords)
}

/** Refuses a revision that would fail requests, or that benchmarks refuse. Rolling back to the previous one is always possible. */
const refuseUnfit =
  (deps: Deps, caller: Person, overridden: readonly string[]) =>
  async (tx: Transaction, decided: Decided<Deployment, DeploymentEvent>): Promise<void> => {
    const { before, state } = decided
    await refuseWithoutReplica(tx, decided)
    const revision_id = state?.promoted_revision_id
    if (!before || !revision_id) return
    const isRollback = decided.events.some(({ type }) => type === 'deployment.rolled_back')
    if (isRollback && revision_id === before.previous_revision_id) return
    const failures = await findFailures(deps, tx, before, revision_id)
    await refuseRevision(
      tx,
      failures.filter(one => !overridden.includes(inWords(one))),
      { revision_id, caller, deployment: before },
    )
  }

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
