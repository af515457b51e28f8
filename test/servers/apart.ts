export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[sorted.length >> 1] ?? Number.NaN
}

/**
 * The difference between two calls, in milliseconds: the median of the differences of each pair, because any other load on the
 * machine slows both calls of a pair. `noiseMs` is the possible error of that median (five standard errors): on a busy
 * machine it grows, and a smaller difference means nothing.
 */
export function apart(
  one: readonly number[],
  other: readonly number[],
): { ms: number; noiseMs: number } {
  const differences = one.map((ms, pair) => ms - (other[pair] ?? Number.NaN))
  const ms = median(differences)
  const spread = 1.4826 * median(differences.map(difference => Math.abs(difference - ms)))
  return { ms, noiseMs: (5 * 1.2533 * spread) / Math.sqrt(differences.length) }
}
