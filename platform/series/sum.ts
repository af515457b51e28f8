/** A sum saturates at the largest double: an infinite one would make every later sum infinite or NaN. */
export const saturate = (sum: number): number =>
  Math.min(Math.max(sum, -Number.MAX_VALUE), Number.MAX_VALUE)

/**
 * The mean of `count` values, clamped to their range: their sum may be saturated, or the mean of equal values rounded
 * past them.
 */
export const meanWithin = (
  { sum, min, max }: { sum: number; min: number; max: number },
  count: number,
): number => Math.min(Math.max(sum / count, min), max)
