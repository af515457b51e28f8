import type { EngineHeaders } from '../../../auth/engine-header.ts'
import { type Deployment, type DeploymentEvent, deploymentAt } from '../../../events/deployments.ts'
import { type CommitDeps, commit, type Decided } from '../../commit/commit.ts'
import type { Transaction } from '../../commit/event-store.ts'
import type { Deps } from '../../deps.ts'
import { saveDeployment, servingLock } from '../rows.ts'

export type ServingDeps = CommitDeps &
  Pick<Deps, 'pool' | 'logger' | 'servingChanged' | 'plugins'> & { engineHeaders: EngineHeaders }

export const asked = {
  actor: { type: 'system', id: 'serving-keeper', via: 'timer' },
  requestId: 'serving-keeper',
} as const

type Change = {
  decide: (deployment: Deployment) => DeploymentEvent[]
  /** Rows that change even without events. */
  also?: (tx: Transaction) => Promise<unknown>
}

/** One decision of the process that manages deployments. */
export async function decideWith(
  deps: ServingDeps,
  { deployment_id }: { deployment_id: string },
  { decide, also }: Change,
): Promise<void> {
  const alongside = async (tx: Transaction, made: Decided<Deployment, DeploymentEvent>) => {
    await saveDeployment(tx, made)
    await also?.(tx)
  }
  const { events } = await commit(deps, asked, deploymentAt(deployment_id), {
    locks: [servingLock],
    decide,
    alongside,
  })
  if (events.length > 0 || !also) return
  await deps.store.transaction(also)
  // Changes of rows have no event that would announce them.
  deps.servingChanged()
}
