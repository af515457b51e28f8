import type { Deployment } from '../../events/deployments.ts'
import { Refusal } from '../../platform/refusal.ts'

export type Made = NonNullable<Deployment>

/** A deployment that is deleted, or is being deleted, accepts no more commands. */
export function living(deployment: Deployment): Made {
  if (!deployment) throw new Error('a command on a deployment that was never created')
  const { state } = deployment
  if (state === 'deleted' || state === 'deleting')
    throw new Refusal('conflict', `The deployment is ${state}`, { code: `deployment.${state}` })
  return deployment
}
