import { type Static, Type } from 'typebox'
import { benchmarkDefinition } from '../schemas/benchmarks/catalogue.ts'
import { aggregate, type EventOf, event } from './event.ts'

/** A version of a benchmark was defined. `digest` covers the definition. */
export const benchmarkDefined = event(
  'benchmark.defined',
  Type.Object({
    name: Type.String(),
    owner: Type.String(),
    version: Type.Integer({ minimum: 1 }),
    digest: Type.String(),
    ...benchmarkDefinition.properties,
  }),
  ({ name, version }, who) => `${who} defined version ${version} of the benchmark ${name}`,
)
export type DefinitionEvent = EventOf<typeof benchmarkDefined>
export type DefinedVersion = Static<typeof benchmarkDefined.data>

/** The newest version; null before the first. */
export type DefinedBenchmark = { owner: string; version: number; digest: string } | null

export const definedBenchmarks = aggregate('benchmark', {
  events: [benchmarkDefined],
  initial: null,
  evolve: (
    _: DefinedBenchmark,
    { data: { owner, version, digest } }: DefinitionEvent,
  ): DefinedBenchmark => ({ owner, version, digest }),
  snapshot: { shape: 1 },
})

export const definedBenchmarkAt = (name: string) => definedBenchmarks.at(name)
