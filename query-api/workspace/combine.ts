import { at } from '../../platform/series/varint.ts'
import { type Curve, meanOf } from '../rules/grid.ts'

/** Columns of a combined curve; only buckets in which at least one run has points. */
export type Combined = {
  x: number[]
  mean: number[]
  low: number[]
  high: number[]
  runs: number[]
}

/**
 * One curve from those of several runs. Each run counts once in a bucket, by the mean of its points there, however many
 * it has. Runs that report less often are interpolated linearly between their points, and count from their first to
 * their last point only.
 */
export function combine(curves: readonly Curve[], band: 'minmax' | 'std'): Combined {
  const means = curves.map(filledMeans)
  const combined: Combined = { x: [], mean: [], low: [], high: [], runs: [] }
  const length = curves[0]?.x.length ?? 0
  for (let b = 0; b < length; b++) {
    const x = curves.reduce(
      (most, curve) => Math.max(most, at(curve.x, b)),
      Number.NEGATIVE_INFINITY,
    )
    if (x === Number.NEGATIVE_INFINITY) continue
    const values = means.map(of => at(of, b)).filter(Number.isFinite)
    const { mean, low, high } = band === 'std' ? deviation(values) : range(values)
    combined.x.push(x)
    combined.mean.push(mean)
    combined.low.push(low)
    combined.high.push(high)
    combined.runs.push(values.length)
  }
  return combined
}

const averageOf = (values: readonly number[]): number => {
  const mean = values.reduce((sum, value) => sum + value / values.length, 0)
  return values.length === 0 ? Number.NaN : mean
}

function range(values: readonly number[]) {
  if (values.length === 0) return { mean: Number.NaN, low: Number.NaN, high: Number.NaN }
  const low = values.reduce((least, value) => Math.min(least, value))
  const high = values.reduce((most, value) => Math.max(most, value))
  return { mean: Math.min(Math.max(averageOf(values), low), high), low, high }
}

/** The mean, and the sample standard deviation to either side; none for a single run. */
export function deviation(values: readonly number[]) {
  const mean = averageOf(values)
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0)
  const std = values.length > 1 ? Math.sqrt(squares / (values.length - 1)) : 0
  return { mean, std, low: mean - std, high: mean + std }
}

/** The mean of each bucket; empty buckets between two with finite means lie on the line between them. */
function filledMeans(curve: Curve): Float64Array {
  const length = curve.x.length
  const means = new Float64Array(length).fill(Number.NaN)
  let before = -1
  for (let b = 0; b < length; b++) {
    if (at(curve.x, b) === Number.NEGATIVE_INFINITY) continue
    means[b] = meanOf(curve, b)
    if (before >= 0) {
      const rise = (at(means, b) - at(means, before)) / (b - before)
      for (let i = before + 1; i < b; i++) means[i] = at(means, before) + rise * (i - before)
    }
    before = b
  }
  return means
}
