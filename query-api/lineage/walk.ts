import type { Person } from '../../auth/caller.ts'
import {
  type LineageEdge,
  type LineageGraph,
  type LineageNode,
  lineageLimits,
  type ThingType,
  thingTypes,
} from '../../schemas/lineage.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'
import { type Db, idOf, type Refs, readThings, type Thing } from './things.ts'

export type Named = { type: ThingType; ref: string }

/** Walks from thing to thing, a step in both directions at a time; undefined if the caller may not read the first one. */
export async function walk(
  db: Db,
  caller: Person,
  first: Named,
): Promise<LineageGraph | undefined> {
  const found = new Map<string, Thing>()
  const asked = new Set([idOf(first)])
  const room = lineageLimits.nodes + 1
  let next = await readThings({ db, caller }, refsOf([first]), refsOf([]), room)
  if (next.length === 0) return undefined
  for (let step = 0; next.length > 0 && step <= lineageLimits.steps; step++) {
    for (const thing of next) found.set(idOf(thing), thing)
    if (found.size > lineageLimits.nodes) break
    const earlier = next.flatMap(({ origins }) => origins.filter(one => !asked.has(idOf(one))))
    for (const one of earlier) asked.add(idOf(one))
    const read = await readThings({ db, caller }, refsOf(earlier), refsOf(next), room)
    next = read.filter(thing => !found.has(idOf(thing)))
  }
  const kept = new Map([...found].slice(0, lineageLimits.nodes))
  return {
    id: idOf(first),
    ...graphOf(kept, found.size > kept.size || next.length > 0),
  }
}

const refsOf = (named: readonly Named[]): Refs => {
  const refs = thingTypes.map(type => [
    type,
    named.flatMap(one => (one.type === type ? one.ref : [])),
  ])
  return Object.fromEntries(refs)
}

/** The nodes and edges of these things. An origin that is not among them is hidden, unless the walk ended before it. */
export function graphOf(
  things: ReadonlyMap<string, Thing>,
  truncated: boolean,
): Pick<LineageGraph, 'nodes' | 'edges' | 'truncated'> {
  const nodes = [...things.values()].sort(oldestFirst).map(toNode)
  const hidden = new Map<string, LineageNode>()
  const edges: LineageEdge[] = []
  for (const [to, { origins }] of things)
    for (const { kind, ...origin } of origins) {
      const from = idOf(origin)
      if (things.has(from)) edges.push({ kind, from, to })
      else if (!truncated) {
        // Its name would show what the caller may not read.
        const id = hidden.get(from)?.id ?? `hidden:${hidden.size + 1}`
        hidden.set(from, { ...nothing, id, type: 'hidden' })
        edges.push({ kind, from: id, to })
      }
    }
  return { nodes: [...hidden.values(), ...nodes], edges, truncated }
}

const nothing = {
  ...{ ref: null, name: null, owner: null, state: null },
  ...{ created_at: null, traffic: null },
}

const oldestFirst = (a: Thing, b: Thing) => timeOf(a) - timeOf(b) || (idOf(a) < idOf(b) ? -1 : 1)

const timeOf = ({ created_at }: Thing): number => created_at?.getTime() ?? 0

const toNode = ({ origins: _, created_at, traffic = null, ...thing }: Thing): LineageNode => ({
  ...thing,
  id: idOf(thing),
  created_at: created_at && toTimestamp(created_at),
  traffic,
})
