/**
 * Points in columns that grow: index i of each column is point i, up to `length`. `ts` is epoch milliseconds.
 * Created once and reused, because allocating small arrays costs more than filling them.
 */
export type Points = {
  steps: Float64Array
  ts: Float64Array
  values: Float64Array
  length: number
}

export const createPoints = (capacity = 1024): Points => ({
  steps: new Float64Array(capacity),
  ts: new Float64Array(capacity),
  values: new Float64Array(capacity),
  length: 0,
})

/** Makes room for `more` points after the existing ones. */
export function makeRoom(points: Points, more: number): void {
  const needed = points.length + more
  if (needed <= points.steps.length) return
  const capacity = Math.max(needed, points.steps.length * 2)
  points.steps = grow(points.steps, capacity)
  points.ts = grow(points.ts, capacity)
  points.values = grow(points.values, capacity)
}

function grow(column: Float64Array, capacity: number): Float64Array {
  const grown = new Float64Array(capacity)
  grown.set(column)
  return grown
}
