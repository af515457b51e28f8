import type { Points } from './points.ts'
import { at } from './varint.ts'

/** The keys of points in columns: the first `counts[0]` points belong to `keys[0]`, and so on. */
export type Grouping = { keys: string[]; counts: number[] }

/**
 * Copies points to `into`, grouped by key and in their order; of points with the same key and step only the last is
 * kept. Keys are in order of their first point.
 */
export function groupByKey(keys: readonly string[], points: Points, into: Points): Grouping {
  const grouping = assignGroups(keys)
  const next = startsOf(grouping.counts)
  for (let i = 0; i < keys.length; i++) {
    const group = at(groupOf, i)
    const to = next[group] ?? 0
    next[group] = to + 1
    into.steps[to] = at(points.steps, i)
    into.ts[to] = at(points.ts, i)
    into.values[to] = at(points.values, i)
  }
  into.length = keys.length
  dropRepeats(grouping.counts, into)
  return grouping
}

// Grouping is synchronous, so that one column serves all calls.
let groupOf = new Int32Array(1024)

function assignGroups(pointKeys: readonly string[]): Grouping {
  if (groupOf.length < pointKeys.length) groupOf = new Int32Array(pointKeys.length * 2)
  const keys: string[] = []
  const counts: number[] = []
  const known = new Map<string, number>()
  // Reports repeat their order of keys, so the key that followed last time is tried before the map.
  const followers: number[] = []
  let previous = 0
  for (let i = 0; i < pointKeys.length; i++) {
    const key = pointKeys[i] as string
    const guess = followers[previous] ?? 0
    let group = keys[guess] === key ? guess : known.get(key)
    if (group === undefined) {
      group = keys.push(key) - 1
      counts.push(0)
      followers.push(0)
      known.set(key, group)
    }
    followers[previous] = group
    groupOf[i] = group
    counts[group] = (counts[group] ?? 0) + 1
    previous = group
  }
  return { keys, counts }
}

function startsOf(counts: readonly number[]): number[] {
  let start = 0
  return counts.map(count => {
    start += count
    return start - count
  })
}

function dropRepeats(counts: number[], points: Points): void {
  let from = 0
  let kept = 0
  for (let k = 0; k < counts.length; k++) {
    const count = counts[k] ?? 0
    if (isAscending(points.steps, from, count)) {
      if (kept !== from) moveDown(points, { from, count, to: kept })
      kept += count
    } else {
      const before = kept
      kept = keepLast(points, { from, count, to: kept })
      counts[k] = kept - before
    }
    from += count
  }
  points.length = kept
}

type Move = { from: number; count: number; to: number }

function moveDown({ steps, ts, values }: Points, { from, count, to }: Move): void {
  for (const column of [steps, ts, values]) column.copyWithin(to, from, from + count)
}

/** Moves down the last point of each step; returns the index after them. */
function keepLast({ steps, ts, values }: Points, { from, count, to }: Move): number {
  const lastOf = new Map<number, number>()
  for (let i = from; i < from + count; i++) lastOf.set(at(steps, i), i)
  let kept = to
  for (let i = from; i < from + count; i++) {
    if (lastOf.get(at(steps, i)) !== i) continue
    steps[kept] = at(steps, i)
    ts[kept] = at(ts, i)
    values[kept++] = at(values, i)
  }
  return kept
}

/** Whether the steps of a stretch strictly ascend, so that none is repeated. */
export function isAscending(steps: Float64Array, from: number, count: number): boolean {
  for (let i = from + 1; i < from + count; i++) if (at(steps, i) <= at(steps, i - 1)) return false
  return true
}
