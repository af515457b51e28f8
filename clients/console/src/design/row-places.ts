/** Where rows of an estimated height are in a list, once some have been measured. */
export type Places = {
  /** Pixels above the row. */
  startOf: (index: number) => number
  heightOf: (index: number) => number
  /** The row at a distance in pixels from the top. */
  indexAt: (top: number) => number
}

/** `measured`: the heights of rows that differ from `estimate`, by index. */
export function placesOf(
  count: number,
  estimate: number,
  measured: ReadonlyMap<number, number>,
): Places {
  const indices = [...measured.keys()].sort((a, b) => a - b)
  const excess = [0]
  for (const index of indices)
    excess.push((excess.at(-1) ?? 0) + (measured.get(index) ?? estimate) - estimate)
  const startOf = (index: number): number =>
    index * estimate +
    (excess[firstWhere(indices.length, nth => (indices[nth] ?? 0) >= index)] ?? 0)
  return {
    startOf,
    heightOf: index => measured.get(index) ?? estimate,
    indexAt: top => Math.max(0, firstWhere(count, index => startOf(index) > top) - 1),
  }
}

/** The first of `count` numbers for which something is true that is true for all later ones; `count` if there is none. */
function firstWhere(count: number, isTrue: (index: number) => boolean): number {
  let [low, high] = [0, count]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    if (isTrue(middle)) high = middle
    else low = middle + 1
  }
  return low
}
