import { type Route, route } from '../../../auth/route.ts'
import { deploymentAt } from '../../../events/deployments.ts'
import {
  deploymentChanged,
  deploymentPath,
  promoteInput,
  revisionPath,
  rollbackInput,
} from '../../../schemas/deployments/deployments.ts'
import { answerPosition } from '../../commit/asked.ts'
import { transact } from '../../commit/commit.ts'
import type { Deps } from '../../deps.ts'
import { approvalNeeded, rulesOn } from '../../rules/approval-requests.ts'
import { inWords, overridesGate } from '../../rules/benchmark-gate.ts'
import { change, type OnDeployment, toChange, toReply } from '../change.ts'
import type { Made } from '../living.ts'
import { askForPromotion, carryOut, type Promoting, promotionLocks } from './approval.ts'
import { rollBack } from './decide.ts'
import { foreseeFailures } from './gates.ts'
import { refuseByPlugins } from './plugins.ts'
import { refuseUnfit } from './unfit.ts'

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
      const asked = { revision_id, reason, expected, overridden }
      return promoteOrAsk(deps, request, { deployment_id, asked, caller: request.caller })
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

/** Promotes, unless a rule lets it wait for an approval. */
async function promoteOrAsk(deps: Deps, request: OnDeployment, promoting: Promoting) {
  const rules = await rulesOn(deps.pool, 'promotion')
  const { deployment_id } = promoting
  const { result, position } = await transact(deps, request, {
    target: deploymentAt(deployment_id),
    locks: promotionLocks(deployment_id),
    make: async work =>
      (await askForPromotion(deps, work, { ...promoting, rules })) ??
      (await carryOut(deps, work, promoting)),
  })
  if ('awaited' in result) throw approvalNeeded(result.awaited)
  if (position !== null) answerPosition(request, position)
  return toReply(result)
}

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
