import { emptySeries, type Series, slice } from './chunk.ts'
import { isAscending } from './grouping.ts'
import { at } from './varint.ts'

/**
 * Joins series of any order and overlap into a resolved one: steps strictly ascend, and of points with the same step
 * the later arrival is kept. The order of the parts makes no difference.
 */
export function resolve(parts: readonly Series[]): Series {
  const runs = parts.flatMap(ascendingRuns).sort((a, b) => at(a.steps, 0) - at(b.steps, 0))
  // Runs almost never overlap; then each point is copied once, however many runs there are.
  const isApart = runs.every((run, i) => i === 0 || isBefore(runs[i - 1], run))
  return isApart && runs.length > 1 ? concatenate(runs) : mergeAll(runs)
}

function mergeAll(parts: readonly Series[]): Series {
  let runs = parts
  while (runs.length > 1) {
    const merged: Series[] = []
    for (let i = 0; i < runs.length; i += 2) {
      const [left, right] = runs.slice(i, i + 2)
      if (left) merged.push(right ? mergeTwo(left, right) : left)
    }
    runs = merged
  }
  return runs[0] ?? emptySeries(0)
}

/** Cuts a series wherever its steps do not ascend. */
function ascendingRuns(series: Series): Series[] {
  const { steps } = series
  if (steps.length === 0) return []
  if (isAscending(steps, 0, steps.length)) return [series]
  const runs: Series[] = []
  let from = 0
  for (let i = 1; i <= steps.length; i++)
    if (i === steps.length || at(steps, i) <= at(steps, i - 1)) {
      runs.push(slice(series, from, i))
      from = i
    }
  return runs
}

const isBefore = (a: Series | undefined, b: Series): boolean =>
  a !== undefined && at(a.steps, a.steps.length - 1) < at(b.steps, 0)

function mergeTwo(a: Series, b: Series): Series {
  if (isBefore(a, b)) return concatenate([a, b])
  if (isBefore(b, a)) return concatenate([b, a])
  const out = emptySeries(a.steps.length + b.steps.length)
  return slice(out, 0, interleave(out, a, b))
}

/** Returns the number of points written. */
function interleave(out: Series, a: Series, b: Series): number {
  let i = 0
  let j = 0
  let length = 0
  while (i < a.steps.length || j < b.steps.length) {
    const stepA = stepAt(a, i)
    const stepB = stepAt(b, j)
    if (stepA < stepB || (stepA === stepB && at(a.arrivals, i) > at(b.arrivals, j)))
      copyPoint(out, length++, a, i)
    else copyPoint(out, length++, b, j)
    if (stepA <= stepB) i++
    if (stepB <= stepA) j++
  }
  return length
}

/** Past the end: infinity, which sorts after every step. */
const stepAt = (series: Series, index: number) =>
  index < series.steps.length ? at(series.steps, index) : Number.POSITIVE_INFINITY

function concatenate(parts: readonly Series[]): Series {
  const out = emptySeries(parts.reduce((sum, part) => sum + part.steps.length, 0))
  let length = 0
  for (const part of parts) {
    for (const column of ['arrivals', 'steps', 'ts', 'values'] as const)
      out[column].set(part[column], length)
    length += part.steps.length
  }
  return out
}

function copyPoint(out: Series, to: number, source: Series, from: number): void {
  out.arrivals[to] = at(source.arrivals, from)
  out.steps[to] = at(source.steps, from)
  out.ts[to] = at(source.ts, from)
  out.values[to] = at(source.values, from)
}
