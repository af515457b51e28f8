/** The quantile `share` of the sorted values (nearest rank); NaN if there are none. */
export function quantile(sorted: readonly number[] | Float64Array, share: number): number {
  if (sorted.length === 0) return Number.NaN
  const rank = Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1))
  return sorted[rank] ?? Number.NaN
}

export type Spread = { count: number; p50: number; p95: number; p99: number; max: number }

export function spreadOf(values: readonly number[]): Spread {
  const sorted = Float64Array.from(values).sort()
  return {
    count: sorted.length,
    p50: quantile(sorted, 0.5),
    p95: quantile(sorted, 0.95),
    p99: quantile(sorted, 0.99),
    max: quantile(sorted, 1),
  }
}
