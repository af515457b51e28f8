/** Beyond the largest double a sum stays at it: an infinite one would make every later sum infinite or NaN. */
export const saturate = (sum: number): number =>
  Math.min(Math.max(sum, -Number.MAX_VALUE), Number.MAX_VALUE)

/**
 * The mean of `count` values, within their range even where their sum was saturated, or where a mean of equal values is
 * rounded past them.
 */
export const meanWithin = (
  { sum, min, max }: { sum: number; min: number; max: number },
  count: number,
): number => Math.min(Math.max(sum / count, min), max)
