export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[sorted.length >> 1] ?? Number.NaN
}

/**
 * How far two calls are apart, in milliseconds: the median of the differences of each pair, because whatever else slows the
 * machine down slows both calls of a pair. `noiseMs` is what that median may be off by (five standard errors): on a busy
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
