import type { Comparison } from './comparison.ts'

export type Dot = { shortId: string; x: number; y: number; nth: number }

/** Runs by a hyperparameter and the best of a metric; runs without a number for either are omitted. */
export function dotsOf(data: Comparison, parameter: string, metric: string): Dot[] {
  const xs = data.hparams.find(({ key }) => key === parameter)?.values ?? []
  const ys = data.metrics.find(({ key }) => key === metric)?.best ?? []
  return data.runs.flatMap(({ short_id }, nth) => {
    const [x, y] = [xs[nth], ys[nth]]
    return typeof x === 'number' && typeof y === 'number' ? [{ shortId: short_id, x, y, nth }] : []
  })
}

/** Numbers that span more than two orders of magnitude, such as learning rates, use a logarithmic scale. */
export const isWide = (values: readonly number[]): boolean =>
  values.every(value => value > 0) && Math.max(...values) / Math.min(...values) > 100

/** The position of a value between the least and the greatest, from 0 to 1; in the middle if all are equal. */
export function placeAmong(values: readonly number[]): (value: number) => number {
  const scale = isWide(values) ? Math.log : (value: number) => value
  const [least, most] = [scale(Math.min(...values)), scale(Math.max(...values))]
  return value => (most === least ? 0.5 : (scale(value) - least) / (most - least))
}

/** Hyperparameters that are numbers in at least two runs. */
export const numericOf = (data: Comparison): string[] =>
  data.hparams
    .filter(({ values }) => values.filter(value => typeof value === 'number').length >= 2)
    .map(({ key }) => key)
