import type { Deployment, DeploymentEvent } from '../../../events/deployments.ts'
import { Refusal } from '../../../platform/refusal.ts'
import type { Decided } from '../../commit/commit.ts'
import type { Transaction } from '../../commit/event-store.ts'
import type { Deps } from '../../deps.ts'
import type { Asking } from '../../rules/access.ts'
import { inWords } from '../../rules/benchmark-gate.ts'
import { findFailures, refuseRevision } from './gates.ts'

type Moved = Pick<Decided<Deployment, DeploymentEvent>, 'before' | 'state' | 'events'>

/** Refuses a revision that would fail requests, or that benchmarks refuse. Rolling back to the previous one is always possible. */
export const refuseUnfit =
  (deps: Pick<Deps, 'store'>, caller: Asking, overridden: readonly string[]) =>
  async (tx: Transaction, decided: Moved): Promise<void> => {
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
async function refuseWithoutReplica(tx: Transaction, { state }: Moved): Promise<void> {
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
