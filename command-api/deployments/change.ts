import type { Person } from '../../auth/caller.ts'
import { type Deployment, type DeploymentEvent, deploymentAt } from '../../events/deployments.ts'
import type { HttpAsked } from '../commit/asked.ts'
import { commit, type Decided } from '../commit/commit.ts'
import type { Transaction } from '../commit/event-store.ts'
import type { Deps } from '../deps.ts'
import type { Action } from '../rules/access.ts'
import { deploymentToActOn } from './act-on.ts'
import { nameLock } from './create-route.ts'
import { saveDeployment, servingLock } from './rows.ts'

/** A request of a person that names a deployment. */
export type OnDeployment = HttpAsked & { caller: Person; params: { deployment_id: string } }

/** The deployment of a request that changes it. */
export const toChange = (
  deps: Deps,
  { caller, params }: OnDeployment,
  action: Action = 'control',
) => deploymentToActOn(deps.pool, { asked: params.deployment_id, caller, action })

type Changing = {
  /** The new name. */
  name?: string | undefined
  decide: (deployment: Deployment, now: Date) => DeploymentEvent[]
  /** Refusals based on rows, before anything is written. */
  also?: (tx: Transaction, decided: Decided<Deployment, DeploymentEvent>) => Promise<unknown>
}

/** One command on one deployment, with the rows that gateways read. */
export async function change(
  deps: Deps,
  request: OnDeployment,
  deployment_id: string,
  { decide, also, name }: Changing,
): Promise<Decided<Deployment, DeploymentEvent>> {
  return commit(deps, request, deploymentAt(deployment_id), {
    locks: [servingLock, ...(await namesOf(deps, deployment_id, name))],
    decide,
    async alongside(tx, made) {
      await also?.(tx, made)
      await saveDeployment(tx, made)
    },
  })
}

/** The lock of that name. */
async function namesOf(
  { pool }: Deps,
  deployment_id: string,
  name: string | undefined,
): Promise<string[]> {
  if (name === undefined) return []
  const { rows } = await pool.query<{ project: string }>(
    'select project from write.deployment_state where deployment_id = $1',
    [deployment_id],
  )
  return rows.map(({ project }) => nameLock(project, name))
}

export function toReply({ state, events }: Decided<Deployment, DeploymentEvent>) {
  if (!state) throw new Error('a deployment that was just changed is missing')
  const { deployment_id, state: now, promoted_revision_id, previous_revision_id } = state
  const changed = events.length > 0
  return { deployment_id, state: now, promoted_revision_id, previous_revision_id, changed }
}
