/** One measurement: an amount of one thing per amount of another, such as requests in milliseconds. */
export type Share = { of: number; in: number }

export type Ratio = { ratio: number; low: number; high: number }

/**
 * How many times the first rate the second one is, from all rounds together, with the 95 % interval by leaving out one round after the
 * other (jackknife of the logarithm).
 */
export function ratioOf(first: readonly Share[], second: readonly Share[]): Ratio {
  const all = logRatio(first, second)
  const rounds = first.length
  const without = Array.from({ length: rounds }, (_, left) =>
    logRatio(first.toSpliced(left, 1), second.toSpliced(left, 1)),
  )
  const mean = without.reduce((sum, value) => sum + value, 0) / rounds
  const variance =
    (without.reduce((sum, value) => sum + (value - mean) ** 2, 0) * (rounds - 1)) / rounds
  const width = 2 * Math.sqrt(variance)
  return { ratio: Math.exp(all), low: Math.exp(all - width), high: Math.exp(all + width) }
}

const logRatio = (first: readonly Share[], second: readonly Share[]) =>
  Math.log(rateOf(second) / rateOf(first))

function rateOf(shares: readonly Share[]): number {
  const sum = (field: keyof Share) => shares.reduce((total, share) => total + share[field], 0)
  return sum('of') / sum('in')
}
