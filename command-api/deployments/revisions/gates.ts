import { deploymentAt } from '../../../events/deployments.ts'
import type { ValidationError } from '../../../schemas/shared.ts'
import { Invalid } from '../../../schemas/validate.ts'
import type { EventStore, Transaction } from '../../commit/event-store.ts'
import { loadState } from '../../commit/snapshots.ts'
import type { Asking } from '../../rules/access.ts'
import { type Failure, failuresOf, refuseFailures } from '../../rules/benchmark-gate.ts'
import { findBenchmark } from '../../rules/benchmark-reference.ts'
import type { Made } from '../living.ts'

type Needed = { store: EventStore }

/** Refuses lists that name no version of a benchmark, each at its place. */
export async function refuseUnknownGates(
  { store }: Needed,
  refs: readonly string[],
): Promise<void> {
  const errors: ValidationError[] = []
  for (const [index, ref] of refs.entries()) {
    const found = await findBenchmark(store, ref)
    if (typeof found !== 'string') continue
    const loc = ['body', 'benchmark_gates', index]
    errors.push({ loc, msg: `Value error, ${found}`, type: 'value_error', input: ref })
  }
  if (errors.length > 0) throw new Invalid(errors)
}

/** The benchmarks of the deployment in which the candidate is worse than the promoted revision by more than one standard error. */
export async function findFailures(
  deps: Needed,
  tx: Transaction,
  { benchmark_gates, promoted_revision_id, revisions }: Made,
  candidate: string,
): Promise<Failure[]> {
  const promoted = promoted_revision_id === null ? null : revisions[promoted_revision_id]
  const to = revisions[candidate]
  if (!promoted || !to) return []
  return failuresOf(deps, tx, benchmark_gates, { from: promoted.source, to: to.source })
}

/** The same before a command, for its decision. `promoted`: with which revision the candidate was compared. */
export async function foreseeFailures(
  { store }: Needed,
  deployment_id: string,
  candidate: (deployment: Made) => string | null,
): Promise<{ promoted: string | null; failures: Failure[] }> {
  return store.transaction(async tx => {
    const { state } = await loadState(store, tx, deploymentAt(deployment_id))
    const revision_id = state && candidate(state)
    if (!state || !revision_id) return { promoted: null, failures: [] }
    return {
      promoted: state.promoted_revision_id,
      failures: await findFailures({ store }, tx, state, revision_id),
    }
  })
}

/** Throws if there are any. */
export function refuseRevision(
  tx: Transaction,
  failures: readonly Failure[],
  { revision_id, caller, deployment }: { revision_id: string; caller: Asking; deployment: Made },
): Promise<void> {
  const { revisions, promoted_revision_id } = deployment
  return refuseFailures(tx, failures, {
    ...{ noun: 'deployment', caller, candidate: revision_id, current: 'the promoted revision' },
    weights: [revision_id, promoted_revision_id ?? ''].flatMap(id => revisions[id]?.source ?? []),
    hint: 'Maintainers of the project may promote it nevertheless, with override_gates and a reason',
  })
}
