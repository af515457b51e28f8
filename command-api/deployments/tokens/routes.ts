import { ulid } from 'ulid'
import { createOpaqueToken } from '../../../auth/opaque-token.ts'
import { type Route, route } from '../../../auth/route.ts'
import { deploymentAt } from '../../../events/deployments.ts'
import {
  deploymentPath,
  tokenCreated,
  tokenInput,
  tokenPath,
  tokenRevoked,
} from '../../../schemas/deployments/deployments.ts'
import { toTimestamp } from '../../../schemas/timestamp.ts'
import { create } from '../../commit/commit.ts'
import type { Deps } from '../../deps.ts'
import { change, toChange } from '../change.ts'
import { saveDeployment, servingLock } from '../rows.ts'
import { createToken, revokeToken } from './decide.ts'

export const tokenRoutes = (deps: Deps): Route[] => [
  route({
    method: 'POST',
    path: '/api/deployments/{deployment_id}/tokens',
    credential: 'person',
    reach: 'its_people',
    tag: 'deployments',
    summary: 'Create a token for the inference routes of this deployment; it is shown only once',
    params: deploymentPath,
    body: tokenInput,
    response: tokenCreated,
    refusals: ['forbidden', 'not_found', 'conflict'],
    async handle(request) {
      const { deployment_id } = await toChange(deps, request)
      const { name, note = '', capture = false } = request.body
      const { id, token, sha256 } = createOpaqueToken('fdt', ulid())
      const token_id = `dtk_${id}`
      const target = deploymentAt(deployment_id)
      return create(deps, request, target, {
        locks: [servingLock],
        async make(work) {
          await work.decide(target, {
            decide: deployment => createToken(deployment, { token_id, name, note, capture }),
            alongside: (tx, decided) => saveDeployment(tx, decided, { sha256 }),
          })
          const created_at = toTimestamp(work.now)
          return { token_id, name, prefix: `fdt_${id}`, token, capture, created_at }
        },
      })
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/deployments/{deployment_id}/tokens/{token_id}',
    credential: 'person',
    reach: 'its_people',
    tag: 'deployments',
    summary: 'Revoke a token: it is invalid from now on, and its open streams end',
    params: tokenPath,
    response: tokenRevoked,
    refusals: ['forbidden', 'not_found', 'conflict'],
    async handle(request) {
      const { deployment_id } = await toChange(deps, request)
      const { token_id } = request.params
      const { now } = await change(deps, request, deployment_id, {
        decide: deployment => revokeToken(deployment, token_id),
      })
      const { rows } = await deps.pool.query<{ revoked_at: Date | null }>(
        'select revoked_at from auth.deployment_token where token_id = $1',
        [token_id],
      )
      return { ok: true as const, revoked_at: toTimestamp(rows[0]?.revoked_at ?? now) }
    },
  }),
]
