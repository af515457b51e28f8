import { type Model, modelAt } from '../../events/models.ts'
import type { EventStore, Transaction } from '../commit/event-store.ts'
import { loadState } from '../commit/snapshots.ts'
import type { Asking } from '../rules/access.ts'
import {
  type Failure,
  failuresOf,
  inWords,
  refuseFailures,
  scoredBenchmarks,
} from '../rules/benchmark-gate.ts'
import type { Weights } from '../rules/benchmark-scores.ts'

type Needed = { store: EventStore }
type Move = { alias: string; to: number | null }
type Compared = { failures: Failure[]; weights: Weights[] }

/**
 * The defined benchmarks in which the version is worse than the current version of a protected alias. A version without a score is
 * not refused, because nobody chose these benchmarks for the model.
 */
async function compare(
  deps: Needed,
  tx: Transaction,
  model: Model,
  { alias, to }: Move,
): Promise<Compared> {
  const version = (wanted: number | null | undefined) =>
    model?.versions.find(one => one.version === wanted)
  const before = version(model?.aliases.find(one => one.alias === alias)?.version)
  const after = version(to)
  if (!model?.protected_aliases.includes(alias) || !before || !after || before === after)
    return { failures: [], weights: [] }
  const refs = await scoredBenchmarks(deps, tx, before.run_id)
  const failures = await failuresOf(deps, tx, refs, { from: before, to: after })
  return { failures: failures.filter(one => one.to !== null), weights: [before, after] }
}

/** Before the command: the benchmarks that it would override, in words. */
export const foreseeOverridden = ({ store }: Needed, name: string, move: Move): Promise<string[]> =>
  store.transaction(async tx => {
    const { state } = await loadState(store, tx, modelAt(name))
    return (await compare({ store }, tx, state, move)).failures.map(inWords)
  })

type Gated = Move & { caller: Asking; overridden: readonly string[] }

/** Refuses a move of a protected alias to a version that scores worse. `before`: the model before the move. */
export async function refuseWorse(
  deps: Needed,
  tx: Transaction,
  before: Model,
  { caller, overridden, ...move }: Gated,
): Promise<void> {
  const { failures, weights } = await compare(deps, tx, before, move)
  await refuseFailures(
    tx,
    failures.filter(one => !overridden.includes(inWords(one))),
    {
      ...{ noun: 'model', caller, weights },
      candidate: `version ${move.to} as ${move.alias}`,
      current: 'the current version',
      hint: 'Maintainers of the project may move it nevertheless, with override_gates and a reason',
    },
  )
}
