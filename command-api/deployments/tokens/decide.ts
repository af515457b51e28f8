import type { Deployment, DeploymentEvent } from '../../../events/deployments.ts'
import { Refusal } from '../../../platform/refusal.ts'
import { living } from '../living.ts'

/** One stream keeps everything a deployment ever had, so tokens are bounded. */
export const mostLiveTokens = 200
const mostTokens = 5000

export function createToken(
  deployment: Deployment,
  { capture, ...token }: { token_id: string; name: string; note: string; capture: boolean },
): DeploymentEvent[] {
  const { deployment_id, tokens } = living(deployment)
  const all = Object.values(tokens)
  const live = all.filter(({ isRevoked }) => !isRevoked)
  if (live.some(({ name }) => name === token.name))
    throw new Refusal(
      'conflict',
      `There is a token named ${token.name}; revoke it, or choose another name`,
      {
        code: 'deployment.token_exists',
      },
    )
  if (live.length >= mostLiveTokens || all.length >= mostTokens)
    throw new Refusal(
      'conflict',
      `A deployment has at most ${mostLiveTokens} live tokens, and ${mostTokens} in all`,
      {
        code: 'deployment.tokens_full',
      },
    )
  const { token_id, name } = token
  return [
    { type: 'deployment.token_created', data: { deployment_id, ...token } },
    ...(capture
      ? [{ type: 'deployment.capture_enabled' as const, data: { deployment_id, token_id, name } }]
      : []),
  ]
}

/** Idempotent. */
export function revokeToken(deployment: Deployment, token_id: string): DeploymentEvent[] {
  const { deployment_id, tokens } = living(deployment)
  const known = Object.hasOwn(tokens, token_id) ? tokens[token_id] : null
  if (!known) throw new Refusal('not_found', `No such token: ${token_id}`)
  if (known.isRevoked) return []
  return [{ type: 'deployment.token_revoked', data: { deployment_id, token_id } }]
}
