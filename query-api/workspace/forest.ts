import { at } from '../../platform/series/varint.ts'

/**
 * A random forest for regression, for the importance of its features: how much of the variance each feature's splits explain,
 * averaged over the trees. The values of a feature are sorted into bins first, so that one pass over the rows of a node finds its
 * best split.
 */
export type Forest = {
  /** One column per feature, each with a value for every row. */
  features: readonly Float64Array[]
  target: Float64Array
  seed: number
  trees: number
}

const maxBins = 64
const maxDepth = 24

/** Shares of the explained variance by feature, which add up to 1; all 0 if nothing is explained. */
export function importances({ features, target, seed, trees }: Forest): number[] {
  const random = uniform(seed)
  const bins = features.map(toBins)
  const totals = new Float64Array(features.length)
  for (let tree = 0; tree < trees; tree++) {
    const rows = Uint32Array.from(target, () => Math.floor(random() * target.length))
    const gains = new Float64Array(features.length)
    grow({ bins, target, gains, random }, rows)
    const sum = gains.reduce((a, b) => a + b, 0)
    if (sum > 0) for (const [f, gain] of gains.entries()) totals[f] = at(totals, f) + gain / sum
  }
  const sum = totals.reduce((a, b) => a + b, 0)
  return Array.from(totals, total => (sum > 0 ? total / sum : 0))
}

/** The same numbers for the same seed (mulberry32). */
function uniform(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** The bin of each value: one for each distinct value, or quantiles if there are many. */
function toBins(values: Float64Array): Uint8Array {
  const distinct = [...new Set(Float64Array.from(values).sort())]
  const binOf = new Map(
    distinct.map((value, i) => [
      value,
      distinct.length <= maxBins ? i : Math.floor((i * maxBins) / distinct.length),
    ]),
  )
  return Uint8Array.from(values, value => binOf.get(value) ?? 0)
}

type Growing = {
  bins: readonly Uint8Array[]
  target: Float64Array
  gains: Float64Array
  random: () => number
}

/** Splits the rows until their targets are equal or few are left, adding to each feature's gain what its splits explain. */
function grow(tree: Growing, all: Uint32Array): void {
  // Splits of a few rows out of many explain next to nothing, and are most of the work.
  const least = Math.max(2, Math.ceil(all.length / 200))
  const waiting = [{ rows: all, depth: 0 }]
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    const { rows, depth } = node
    if (rows.length < least || depth >= maxDepth) continue
    const split = bestSplit(tree, rows)
    if (!split) continue
    const bins = tree.bins[split.feature] ?? new Uint8Array()
    tree.gains[split.feature] = at(tree.gains, split.feature) + split.gain
    waiting.push({ rows: rows.filter(row => at(bins, row) <= split.bin), depth: depth + 1 })
    waiting.push({ rows: rows.filter(row => at(bins, row) > split.bin), depth: depth + 1 })
  }
}

type Split = { feature: number; bin: number; gain: number }

/** Tries a random third of the features, another for each node, so that correlated ones share their importance. */
function bestSplit({ bins, target, random }: Growing, rows: Uint32Array): Split | null {
  const wanted = Math.max(1, Math.ceil(bins.length / 3))
  const order = bins.map((_, feature) => ({ feature, at: random() })).sort((a, b) => a.at - b.at)
  let sum = 0
  for (const row of rows) sum += at(target, row)
  let best: Split | null = null
  let tried = 0
  for (const { feature } of order) {
    // Features that are constant here do not count, as in scikit-learn.
    if (tried >= wanted) break
    const split = splitOf({ bins: bins[feature] ?? new Uint8Array(), target, rows, sum })
    if (split === null) continue
    tried++
    if (best === null || split.gain > best.gain) best = { feature, ...split }
  }
  return best
}

// Reused, because nodes are many and this is synchronous.
const counts = new Float64Array(maxBins)
const sums = new Float64Array(maxBins)

type Node = { bins: Uint8Array; target: Float64Array; rows: Uint32Array; sum: number }

function splitOf({ bins, target, rows, sum }: Node): { bin: number; gain: number } | null {
  counts.fill(0)
  sums.fill(0)
  for (const row of rows) {
    const bin = at(bins, row)
    counts[bin] = at(counts, bin) + 1
    sums[bin] = at(sums, bin) + at(target, row)
  }
  const whole = (sum * sum) / rows.length
  let best: { bin: number; gain: number } | null = null
  let least = 1e-12 * whole
  let [left, leftSum] = [0, 0]
  for (let bin = 0; left + at(counts, bin) < rows.length; bin++) {
    left += at(counts, bin)
    leftSum += at(sums, bin)
    if (counts[bin] === 0) continue
    const gain = (leftSum * leftSum) / left + (sum - leftSum) ** 2 / (rows.length - left) - whole
    if (gain <= least) continue
    best = { bin, gain }
    least = gain
  }
  return best
}
