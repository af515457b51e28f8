import {
  type DefinedVersion,
  type DefinitionEvent,
  definedBenchmarkAt,
} from '../../events/benchmark-definitions.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { EventStore, Transaction } from '../commit/event-store.ts'

/** The version that `name@2` names, or why it names none. Without a version a reference could mean another one later. */
export async function findBenchmark(
  store: Pick<EventStore, 'load'>,
  ref: string,
  tx?: Transaction,
): Promise<DefinedVersion | string> {
  const [, name, wanted] =
    /^([A-Za-z0-9][A-Za-z0-9._-]{0,127})(?:@([1-9]\d{0,6}))?$/.exec(ref) ?? []
  if (name === undefined) return `${ref} names no benchmark; write name@version, e.g. gsm8k@1`
  const { events } = await store.load<DefinitionEvent>(definedBenchmarkAt(name).stream, tx)
  const newest = events.at(-1)?.data
  if (!newest) return `No such benchmark: ${name}`
  if (wanted === undefined) return `${ref} has no version; write ${name}@${newest.version}`
  return (
    events.find(({ data }) => data.version === Number(wanted))?.data ??
    `The benchmark ${name} has no version ${wanted}; the newest is ${newest.version}`
  )
}

type Asked = { ref: string; every_steps: number | null; at_end: boolean }

/** An entry of `FORGE_BENCHMARKS`, in which a run gets the benchmarks that its job names. */
export type BenchmarkToRun = Asked & Omit<DefinedVersion, 'owner' | 'digest' | 'description'>

/** The definitions, which never change and never go, so none can be missing. */
export async function benchmarksToRun(
  store: Pick<EventStore, 'load'>,
  asked: readonly Asked[],
  tx: Transaction,
): Promise<BenchmarkToRun[]> {
  const found: BenchmarkToRun[] = []
  for (const one of asked) {
    const defined = await findBenchmark(store, one.ref, tx)
    if (typeof defined === 'string') throw new Refusal('not_found', defined)
    const { owner: _, digest: __, description: ___, ...definition } = defined
    found.push({ ...one, ...definition })
  }
  return found
}
