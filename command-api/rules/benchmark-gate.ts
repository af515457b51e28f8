import type { DefinedVersion } from '../../events/benchmark-definitions.ts'
import { benchmarksAt } from '../../events/benchmarks.ts'
import { Refusal } from '../../platform/refusal.ts'
import { type Compared, compareScores, type Measured } from '../../schemas/benchmarks/compare.ts'
import type { EventStore, Transaction } from '../commit/event-store.ts'
import type { Asking } from './access.ts'
import { findBenchmark } from './benchmark-reference.ts'
import { findScore, type Weights } from './benchmark-scores.ts'

type Needed = { store: EventStore }

/** Why a benchmark refuses weights. `to` is null if they have no score in it, although those in use have. */
export type Failure = { benchmark: string; metric: string; from: Measured } & (
  | ({ to: Measured } & Pick<Compared, 'delta' | 'stderr'>)
  | { to: null; delta: null; stderr: null }
)

type Change = { from: Weights; to: Weights }

/** The benchmarks in which `to` is worse than `from` by more than one standard error, or has no score. */
export async function failuresOf(
  { store }: Needed,
  tx: Transaction,
  refs: readonly string[],
  { from, to }: Change,
): Promise<Failure[]> {
  const failures: Failure[] = []
  for (const ref of refs) {
    const defined = await findBenchmark(store, ref, tx)
    if (typeof defined === 'string') throw new Error(defined)
    const before = await findScore(tx, defined, from)
    const after = await findScore(tx, defined, to)
    failures.push(...failureOf(defined, before, after))
  }
  return failures
}

/** Where the weights in use have no score, nothing can be worse. */
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

/** The most versions of benchmarks of one run that are compared; runs have tens of them. */
const mostBenchmarks = 200

/** The versions of defined benchmarks in which a run has scores, by name. */
export async function scoredBenchmarks(
  { store }: Needed,
  tx: Transaction,
  run_id: string,
): Promise<string[]> {
  const { rows } = await tx.query<{ ref: string }>({
    name: 'benchmarks_with_scores',
    text: `select distinct (data ->> 'benchmark') || '@' || (data ->> 'version') as ref from write.event
            where stream = $1 and data ->> 'version' is not null order by 1 limit $2`,
    values: [benchmarksAt(run_id).stream, mostBenchmarks],
  })
  const defined: string[] = []
  for (const { ref } of rows)
    if (typeof (await findBenchmark(store, ref, tx)) !== 'string') defined.push(ref)
  return defined
}

/** Without scores, because readers of the deployment or model need not be readers of the runs. */
export const inWords = ({ benchmark, to }: Failure): string =>
  to === null ? `${benchmark}: no score` : `${benchmark}: worse by more than one standard error`

type Override = { override_gates?: boolean; reason?: string }

/** Whether the request overrides the gate. Refuses an override without permission or without a reason. */
export function overridesGate(
  { override_gates = false, reason = '' }: Override,
  { mayOverride, noun }: { mayOverride: boolean; noun: 'deployment' | 'model' },
): boolean {
  if (!override_gates) return false
  if (!mayOverride)
    throw new Refusal(
      'forbidden',
      `Only maintainers of its project and admins may override the benchmarks of a ${noun}`,
      { code: `${noun}.gates` },
    )
  if (!reason.trim())
    throw new Refusal('invalid', 'reason is empty; say why the benchmarks do not matter', {
      code: `${noun}.override_reason`,
    })
  return true
}

type Gate = {
  noun: 'deployment' | 'model'
  caller: Asking
  /** The weights whose scores a refusal shows. */
  weights: readonly Weights[]
  /** Names of the refused weights and of the present ones. */
  candidate: string
  current: string
  hint: string
}

/** Throws if there are any. */
export async function refuseFailures(
  tx: Transaction,
  failures: readonly Failure[],
  { noun, caller, weights, candidate, current, hint }: Gate,
): Promise<void> {
  if (failures.length === 0) return
  const isShown = await mayReadAll(tx, caller, weights)
  const texts = failures.map(one => (isShown ? withScores(one, current) : inWords(one)))
  throw new Refusal(
    'conflict',
    `Benchmarks of the ${noun} refuse ${candidate}: ${texts.join('; ')}`,
    {
      code: `${noun}.benchmark_gate`,
      data: { failed: failures.map(one => (isShown ? toData(one) : { benchmark: one.benchmark })) },
      hint,
    },
  )
}

const withScores = (failure: Failure, current: string): string => {
  const { benchmark, metric, from, to, delta, stderr } = failure
  if (to === null)
    return `${benchmark} has no score of it in ${metric}, but ${textOf(from)} of ${current}`
  return `${metric} of ${benchmark} is ${textOf(to)}, after ${textOf(from)} of ${current}: ${delta} is worse by more than one standard error (${stderr ?? 0})`
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
  { username, role }: Asking,
  weights: readonly Weights[],
): Promise<boolean> {
  const runs = [...new Set(weights.flatMap(({ run_id }) => run_id ?? []))]
  const { rows } = await tx.query<{ count: number }>(
    `select count(*)::int as count from write.resource
      where kind = 'run' and id = any($1) and deleted_at is null and write.may_read(owner, project, $2, $3)`,
    [runs, username, role === 'admin'],
  )
  return rows[0]?.count === runs.length
}
