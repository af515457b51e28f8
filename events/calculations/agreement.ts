/** How well annotators agree. Pure; each function is linear in the number of values, but for sorting. */

/** The values that annotators gave to one item. */
export type Unit<V> = readonly V[]

/**
 * Cohen's kappa (unweighted) of two annotators over the items that both judged. Null without items, and if both gave all
 * items one and the same value: no disagreement was possible.
 */
export function cohenKappa<V>(pairs: readonly (readonly [V, V])[]): number | null {
  const [first, second] = [new Map<V, number>(), new Map<V, number>()]
  let agreed = 0
  for (const [one, other] of pairs) {
    count(first, one)
    count(second, other)
    if (one === other) agreed++
  }
  const total = pairs.length
  let expected = 0
  for (const [value, times] of first) expected += times * (second.get(value) ?? 0)
  const disagreements = total * total - expected
  return disagreements === 0 ? null : 1 - ((total - agreed) * total) / disagreements
}

/**
 * Krippendorff's alpha of categories. Items with fewer than two values count for nothing. Null if all remaining values are
 * the same, or none remain.
 */
export function nominalAlpha<V>(units: readonly Unit<V>[]): number | null {
  const totals = new Map<V, number>()
  let [values, observed] = [0, 0]
  for (const unit of pairable(units)) {
    const counts = new Map<V, number>()
    for (const value of unit) {
      count(counts, value)
      count(totals, value)
    }
    values += unit.length
    observed += (unit.length ** 2 - sumOfSquares(counts)) / (unit.length - 1)
  }
  return alphaOf(values, observed, values ** 2 - sumOfSquares(totals))
}

/** The same of numbers: a disagreement weighs as the square of their difference. */
export function intervalAlpha(units: readonly Unit<number>[]): number | null {
  const kept = pairable(units)
  const all = kept.flat()
  // Differences do not depend on it, but their rounding does.
  const middle = all.length === 0 ? 0 : all.reduce((sum, value) => sum + value, 0) / all.length
  let observed = 0
  for (const unit of kept) observed += squaredDifferences(unit, middle) / (unit.length - 1)
  return alphaOf(all.length, observed, squaredDifferences(all, middle))
}

/**
 * The same of ranked categories: two of them are as far apart as there are values between them, so this is the interval alpha of
 * their middle ranks.
 */
export function ordinalAlpha(units: readonly Unit<number>[]): number | null {
  const kept = pairable(units)
  const ranks = middleRanks(kept.flat())
  return intervalAlpha(kept.map(unit => unit.map(value => ranks.get(value) ?? 0)))
}

/** Spearman's rank correlation; null for fewer than two pairs, or if either side is constant. */
export function rankCorrelation(pairs: readonly (readonly [number, number])[]): number | null {
  const [ofFirst, ofSecond] = [
    middleRanks(pairs.map(([one]) => one)),
    middleRanks(pairs.map(([, other]) => other)),
  ]
  const middle = pairs.length / 2
  let [product, first, second] = [0, 0, 0]
  for (const [one, other] of pairs) {
    const [x, y] = [(ofFirst.get(one) ?? 0) - middle, (ofSecond.get(other) ?? 0) - middle]
    product += x * y
    first += x * x
    second += y * y
  }
  return first === 0 || second === 0 ? null : product / Math.sqrt(first * second)
}

const count = <V>(counts: Map<V, number>, value: V) =>
  counts.set(value, (counts.get(value) ?? 0) + 1)

const pairable = <V>(units: readonly Unit<V>[]) => units.filter(unit => unit.length > 1)

const sumOfSquares = (counts: ReadonlyMap<unknown, number>): number =>
  [...counts.values()].reduce((sum, times) => sum + times ** 2, 0)

/** Over all ordered pairs. */
function squaredDifferences(values: readonly number[], middle: number): number {
  let [sum, squares] = [0, 0]
  for (const value of values) {
    sum += value - middle
    squares += (value - middle) ** 2
  }
  return 2 * (values.length * squares - sum ** 2)
}

const alphaOf = (values: number, observed: number, expected: number): number | null =>
  values < 2 || expected <= 0 ? null : 1 - ((values - 1) * observed) / expected

/** How many values are below each value, plus half of the equal ones. */
function middleRanks(values: readonly number[]): Map<number, number> {
  const counts = new Map<number, number>()
  for (const value of values) count(counts, value)
  const ranks = new Map<number, number>()
  let below = 0
  for (const [value, times] of [...counts].sort(([a], [b]) => a - b)) {
    ranks.set(value, below + times / 2)
    below += times
  }
  return ranks
}
