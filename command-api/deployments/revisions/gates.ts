import type { Person } from '../../../auth/caller.ts'
import type { DefinedVersion } from '../../../events/benchmark-definitions.ts'
import { deploymentAt } from '../../../events/deployments.ts'
import { Refusal } from '../../../platform/refusal.ts'
import { type Compared, compareScores, type Measured } from '../../../schemas/benchmarks/compare.ts'
import type { ValidationError } from '../../../schemas/shared.ts'
import { Invalid } from '../../../schemas/validate.ts'
import type { EventStore, Transaction } from '../../commit/event-store.ts'
import { loadState } from '../../commit/snapshots.ts'
import { findBenchmark } from '../../rules/benchmark-reference.ts'
import { findScore } from '../../rules/benchmark-scores.ts'
import type { Made } from '../living.ts'

type Needed = { store: EventStore }

/** Why a benchmark refuses a revision. `to` is null if the revision has no score in it, although the promoted one has. */
export type Failure = { benchmark: string; metric: string; from: Measured } & (
  | ({ to: Measured } & Pick<Compared, 'delta' | 'stderr'>)
  | { to: null; delta: null; stderr: null }
)

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
  { store }: Needed,
  tx: Transaction,
  { benchmark_gates, promoted_revision_id, revisions }: Made,
  candidate: string,
): Promise<Failure[]> {
  const promoted = promoted_revision_id === null ? null : revisions[promoted_revision_id]
  const to = revisions[candidate]
  if (!promoted || !to) return []
  const failures: Failure[] = []
  for (const ref of benchmark_gates) {
    const defined = await findBenchmark(store, ref, tx)
    if (typeof defined === 'string') throw new Error(defined)
    const before = await findScore(tx, defined, promoted.source)
    const after = await findScore(tx, defined, to.source)
    failures.push(...failureOf(defined, before, after))
  }
  return failures
}

/** Where the promoted revision has no score, nothing can be worse. */
function failureOf(
  { name, version, metric, higher_is_better }: DefinedVersion,
  from: Measured | null,
  to: Measured | null,
): Failure[] {
  if (!from) return []
  const failure = { benchmark: `${name}@${version}`, metric, from }
  if (!to) return [{ ...failure, to, delta: null, stderr: null }]
  const { isWorse, delta, stderr } = compareScores(from, to, higher_is_better)
  return isWorse ? [{ ...failure, to, delta, stderr }] : []
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

/** Without scores: readers of the deployment need not be readers of the runs. */
export const inWords = ({ benchmark, to }: Failure): string =>
  to === null ? `${benchmark}: no score` : `${benchmark}: worse by more than one standard error`

/** Throws if there are any. */
export async function refuseFailures(
  tx: Transaction,
  failures: readonly Failure[],
  { revision_id, caller, deployment }: { revision_id: string; caller: Person; deployment: Made },
): Promise<void> {
  if (failures.length === 0) return
  const { revisions, promoted_revision_id } = deployment
  const weights = [revision_id, promoted_revision_id ?? ''].flatMap(
    id => revisions[id]?.source ?? [],
  )
  const isShown = await mayReadAll(tx, caller, weights)
  throw new Refusal(
    'conflict',
    `Benchmarks of the deployment refuse ${revision_id}: ${failures.map(isShown ? withScores : inWords).join('; ')}`,
    {
      code: 'deployment.benchmark_gate',
      data: { failed: failures.map(one => (isShown ? toData(one) : { benchmark: one.benchmark })) },
      hint: 'Maintainers of the project may promote it nevertheless, with override_gates and a reason',
    },
  )
}

const withScores = (failure: Failure): string => {
  const { benchmark, metric, from, to, delta, stderr } = failure
  if (to === null)
    return `${benchmark} has no score of it in ${metric}, but ${textOf(from)} of the promoted revision`
  return `${metric} of ${benchmark} is ${textOf(to)}, after ${textOf(from)} of the promoted revision: ${delta} is worse by more than one standard error (${stderr ?? 0})`
}

const textOf = ({ value, stderr }: Measured): string =>
  stderr === null ? `${value}` : `${value} ± ${stderr}`

const toData = ({ from, to, ...failure }: Failure) => ({
  ...failure,
  from: from.value,
  from_stderr: from.stderr,
  to: to?.value ?? null,
  to_stderr: to?.stderr ?? null,
})

/** Scores are shown to readers of the runs that have them. */
async function mayReadAll(
  tx: Transaction,
  { username, role }: Person,
  weights: readonly { run_id: string | null }[],
): Promise<boolean> {
  const runs = [...new Set(weights.flatMap(({ run_id }) => run_id ?? []))]
  const { rows } = await tx.query<{ count: number }>(
    `select count(*)::int as count from write.resource
      where kind = 'run' and id = any($1) and deleted_at is null and write.may_read(owner, project, $2, $3)`,
    [runs, username, role === 'admin'],
  )
  return rows[0]?.count === runs.length
}
