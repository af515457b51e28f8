import { type Route, route } from '../../auth/route.ts'
import type { DeploymentSettings } from '../../events/deployments.ts'
import { isOneOf } from '../../platform/postgres/one-of.ts'
import { Refusal } from '../../platform/refusal.ts'
import {
  type DeploymentPatch,
  deleteQuery,
  deletionReply,
  deploymentChanged,
  deploymentPatch,
  deploymentPath,
  reasonInput,
} from '../../schemas/deployments/deployments.ts'
import { overStates } from '../../schemas/deployments/serving-states.ts'
import type { Deps } from '../deps.ts'
import { holdTeamFor } from '../rules/teams.ts'
import { change, type OnDeployment, toChange, toReply } from './change.ts'
import {
  baseUrlOf,
  besidesIn,
  createRoute,
  refuseCapture,
  refuseTakenName,
} from './create-route.ts'
import { changeDeployment, move } from './decide.ts'
import type { FindTemplate } from './ports.ts'
import { refuseUnknownGates } from './revisions/gates.ts'
import { pointerRoutes } from './revisions/pointer-routes.ts'
import { revisionRoutes } from './revisions/routes.ts'
import { tokenRoutes } from './tokens/routes.ts'

export const deploymentRoutes = (deps: Deps, findTemplate: FindTemplate): Route[] => [
  createRoute(deps, findTemplate),
  changeRoute(deps),
  route({
    method: 'POST',
    path: '/api/deployments/{deployment_id}/suspend',
    credential: 'person',
    reach: 'its_people',
    tag: 'deployments',
    summary: 'Serve nothing until it is resumed: its replicas end, its address and tokens stay',
    params: deploymentPath,
    body: reasonInput,
    bodyMayBeAbsent: true,
    response: deploymentChanged,
    refusals: ['forbidden', 'not_found', 'conflict'],
    handle: request => ask(deps, request, 'suspend'),
  }),
  route({
    method: 'POST',
    path: '/api/deployments/{deployment_id}/resume',
    credential: 'person',
    reach: 'its_people',
    tag: 'deployments',
    summary: 'Serve again the revision that was promoted when it was suspended',
    params: deploymentPath,
    body: reasonInput,
    bodyMayBeAbsent: true,
    response: deploymentChanged,
    refusals: ['forbidden', 'not_found', 'conflict'],
    handle: request => ask(deps, request, 'resume'),
  }),
  ...revisionRoutes(deps, findTemplate),
  ...pointerRoutes(deps),
  ...tokenRoutes(deps),
  deleteRoute(deps),
]

const changeRoute = (deps: Deps): Route =>
  route({
    method: 'PATCH',
    path: '/api/deployments/{deployment_id}',
    credential: 'person',
    reach: 'its_people',
    tag: 'deployments',
    summary:
      'Change the name, replicas, limits, allowed origins or gating benchmarks of a deployment',
    params: deploymentPath,
    body: deploymentPatch,
    response: deploymentChanged,
    refusals: ['invalid', 'forbidden', 'not_found', 'conflict'],
    async handle(request) {
      refuseCapture(request.body)
      const { deployment_id, mayConfigure } = await toChange(deps, request)
      await refuseGates(deps, request.body, mayConfigure)
      const { name, team } = request.body
      const { caller } = request
      return toReply(
        await change(deps, request, deployment_id, {
          decide: deployment =>
            changeDeployment(deployment, settingsIn(request.body), besidesIn(request.body)),
          name,
          async also(tx, { before, state }) {
            if (!state) return
            const { project } = state
            if (name !== undefined) await refuseTakenName({ tx }, { project, name, deployment_id })
            if (team && team !== before?.settings.team)
              await holdTeamFor(tx, { team, project, caller })
          },
        }),
      )
    },
  })

async function refuseGates(
  deps: Deps,
  { benchmark_gates }: DeploymentPatch,
  mayConfigure: boolean,
): Promise<void> {
  if (benchmark_gates === undefined) return
  if (!mayConfigure)
    throw new Refusal(
      'forbidden',
      'Only maintainers of its project and admins may choose the benchmarks of a deployment',
      { code: 'deployment.gates' },
    )
  await refuseUnknownGates(deps, benchmark_gates)
}

const deleteRoute = (deps: Deps): Route =>
  route({
    method: 'DELETE',
    path: '/api/deployments/{deployment_id}',
    credential: 'person',
    reach: 'its_people',
    tag: 'deployments',
    summary: 'Delete a deployment with its tokens, or with `dry_run=true` show what would end',
    params: deploymentPath,
    query: deleteQuery,
    response: deletionReply,
    refusals: ['forbidden', 'not_found', 'conflict'],
    async handle(request) {
      const { deployment_id } = await toChange(deps, request)
      const breaks = {
        base_url: baseUrlOf(deps, deployment_id),
        ...(await whatEnds(deps, deployment_id)),
      }
      const deleted = request.query.dry_run !== 'true'
      if (deleted)
        await change(deps, request, deployment_id, {
          decide: deployment => move(deployment, 'delete'),
        })
      return { deployment_id, deleted, breaks }
    },
  })

async function ask(
  deps: Deps,
  request: OnDeployment & { body: { reason?: string } },
  trigger: 'suspend' | 'resume',
) {
  const { deployment_id } = await toChange(deps, request)
  const { reason = '' } = request.body
  return toReply(
    await change(deps, request, deployment_id, {
      decide: deployment => move(deployment, trigger, reason === '' ? null : reason),
    }),
  )
}

function settingsIn({
  name,
  team,
  replicas,
  limits,
}: DeploymentPatch): Partial<DeploymentSettings> {
  return {
    ...(name !== undefined && { name }),
    ...(team !== undefined && { team }),
    ...(replicas?.min !== undefined && { min_replicas: replicas.min }),
    ...(replicas?.max !== undefined && { max_replicas: replicas.max }),
    ...limits,
  }
}

async function whatEnds({ pool }: Deps, deployment_id: string) {
  const { rows } = await pool.query<{ tokens: string[]; revisions: number; replicas: number }>(
    `select array(select name from auth.deployment_token
                   where deployment_id = $1 and revoked_at is null order by name) as tokens,
            (select count(*)::int from write.revision_state
              where deployment_id = $1 and not ${isOneOf('state', overStates)}) as revisions,
            (select count(*)::int from write.replica
              where deployment_id = $1 and state <> 'ended') as replicas`,
    [deployment_id],
  )
  if (!rows[0]) throw new Error('a query without conditions returned no row')
  return rows[0]
}
