import type { Difference } from '../../schemas/environment.ts'
import { factsOf } from '../rules/facts.ts'

type Facts = Readonly<Record<string, unknown>>

/** The differences of two environments by fact, e.g. `packages.torch`, `gpus.0.name`. Sorted by name. */
export function differencesOf(one: Facts, other: Facts): Difference[] {
  const [a, b] = [new Map(factsOf(one)), new Map(factsOf(other))]
  return [...new Set([...a.keys(), ...b.keys()])].sort().flatMap(key => {
    const [value, against] = [a.get(key) ?? null, b.get(key) ?? null]
    return value === against ? [] : [{ key, value, against }]
  })
}
