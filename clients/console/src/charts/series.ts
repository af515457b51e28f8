import type { Static } from 'typebox'
import { byInterest } from '../../../../schemas/metrics/interest.ts'
import type { metricSeries } from '../../../../schemas/metrics/reads.ts'
import type { Stroke } from './stroke.ts'

export type MetricSeries = Static<typeof metricSeries>
export type XAxis = 'step' | 'relative' | 'time'
export type Filter = 'exponential' | 'gaussian'

/** The data of one line of a chart; all lists are as long as `x`. */
export type Line = {
  label: string
  /** The run that the line belongs to. */
  runId: string
  /** By its place in the chart if absent. */
  stroke?: Stroke
  x: number[]
  min: (number | null)[]
  max: (number | null)[]
  /** The value that the line goes through: as reported, or the mean of a bucket. */
  value: (number | null)[]
  /** Where values were not finite, and how many. */
  nonfinite: { x: number; count: number }[]
  /** Whether points stand for several values each, so that extremes differ from the line. */
  isBucketed: boolean
  /** It stands for several runs, with their band as its extremes. */
  isGroup?: boolean
  /** The newest value as reported, even where the line shows something else. */
  last: { step: number; value: number | string } | null
}

/** The line without its run. `startMs`: the start of the run, for elapsed time; milliseconds of the epoch. */
export function lineOf(
  series: MetricSeries,
  label: string,
  x: XAxis,
  startMs: number,
): Omit<Line, 'runId' | 'stroke'> {
  const { points } = series
  const newest = newestOf(points)
  const at = points.map(([step, , , , , ts]) => pointPlaceOf(x, step, ts, startMs))
  return {
    label,
    x: at,
    min: points.map(([, min]) => min),
    max: points.map(([, , max]) => max),
    value: points.map(([, , , mean, last]) =>
      series.bucketed ? mean : typeof last === 'number' ? last : null,
    ),
    nonfinite: series.nonfinite.map(([step, count]) => ({
      x: x === 'step' ? step : (at[nearest(points, step)] ?? 0),
      count,
    })),
    isBucketed: series.bucketed,
    last: newest && { step: newest[0], value: newest[4] ?? '–' },
  }
}

/** On a time axis the last point need not be the one with the greatest step. */
const newestOf = (points: MetricSeries['points']) =>
  points.reduce<MetricSeries['points'][number] | null>(
    (newest, point) => (newest === null || point[0] > newest[0] ? point : newest),
    null,
  )

/** Where each attempt after the first begins: `starts` in milliseconds of the epoch, the result in axis positions. */
export function boundariesOf(
  series: readonly MetricSeries[],
  starts: readonly number[],
  x: XAxis,
  startMs: number,
): number[] {
  if (x !== 'step') return starts.map(ts => pointPlaceOf(x, 0, ts, startMs))
  return starts.flatMap(ts => {
    const steps = series.flatMap(({ points }) => points.find(point => point[5] >= ts)?.[0] ?? [])
    return steps.length === 0 ? [] : [Math.min(...steps)]
  })
}

/** Steps; seconds since the start; or seconds of the epoch, the unit of the time axis. */
const pointPlaceOf = (x: XAxis, step: number, ts: number, startMs: number): number =>
  x === 'step' ? step : x === 'time' ? ts / 1000 : (ts - startMs) / 1000

function nearest(points: MetricSeries['points'], step: number): number {
  const at = points.findIndex(([other]) => other >= step)
  return at === -1 ? points.length - 1 : at
}

/**
 * An exponential moving average without the usual pull towards zero at the start: `weight` 0 leaves values unchanged, and
 * values nearer to 1 smooth more. Gaps stay gaps.
 */
export function smoothed(values: readonly (number | null)[], weight: number): (number | null)[] {
  if (weight <= 0) return [...values]
  let sum = 0
  let norm = 0
  return values.map(value => {
    if (value === null) return null
    sum = sum * weight + (1 - weight) * value
    norm = norm * weight + (1 - weight)
    return sum / norm
  })
}

/**
 * The same weights by a Gaussian: a point is averaged with those around it, and not only with earlier ones, so that a curve keeps
 * its place. Gaps stay gaps.
 */
export function blurred(values: readonly (number | null)[], weight: number): (number | null)[] {
  if (weight <= 0) return [...values]
  // As wide as the memory of the exponential average.
  const deviation = weight / (1 - weight)
  const reach = Math.ceil(3 * deviation)
  const share = Array.from({ length: reach + 1 }, (_, by) => Math.exp(-((by / deviation) ** 2) / 2))
  return values.map((value, nth) => {
    if (value === null) return null
    let [sum, norm] = [0, 0]
    const last = Math.min(values.length - 1, nth + reach)
    for (let at = Math.max(0, nth - reach); at <= last; at++) {
      const [other, weighs] = [values[at], share[Math.abs(at - nth)]]
      if (other == null || weighs === undefined) continue
      sum += other * weighs
      norm += weighs
    }
    return sum / norm
  })
}

/** Siblings that differ only in an index, e.g. `loss/layer_0` and `loss/layer_1`: these share a chart. */
const indexed = /^(.*?)[/_.-]?(?:class_|layer_|rank_|expert_|head_)?(\d+)$/

/**
 * The charts of a run's keys, losses and rewards first: indexed siblings (at least two) share one, and every other key has its own, whether or
 * not it is a prefix of others.
 */
export function chartsOf(keys: readonly string[]): { title: string; keys: string[] }[] {
  const stems = Map.groupBy(keys, key => indexed.exec(key)?.[1] ?? key)
  const charts = [...stems].flatMap(([stem, siblings]) => {
    const numbered = siblings.filter(key => indexed.test(key) && key !== stem)
    const single = siblings.filter(key => !numbered.includes(key))
    const shared =
      numbered.length >= 2
        ? [{ title: `${stem.replace(/[/_.-]$/, '')}[…]`, keys: inOrder(numbered) }]
        : numbered.map(key => ({ title: key, keys: [key] }))
    return [...single.map(key => ({ title: key, keys: [key] })), ...shared]
  })
  const interest = byInterest(new Map(keys.map(key => [key, { count: 0 }])))
  const rankOf = ({ keys: [first = ''] }: { keys: string[] }) => interest.indexOf(first)
  return charts.sort((a, b) => rankOf(a) - rankOf(b))
}

const inOrder = (keys: readonly string[]): string[] =>
  [...keys].sort((a, b) => Number(indexed.exec(a)?.[2]) - Number(indexed.exec(b)?.[2]))

/** The part of a key before its first slash; keys without one are grouped under ''. */
export const prefixOf = (key: string): string =>
  key.includes('/') ? key.slice(0, key.indexOf('/')) : ''

/** The part of a key that distinguishes it from the others in its chart. */
export function labelIn(keys: readonly string[], key: string): string {
  if (keys.length === 1) return key
  const shared = keys.reduce((start, other) => {
    let n = 0
    while (n < start.length && start[n] === other[n]) n++
    return start.slice(0, n)
  })
  return key.slice(shared.lastIndexOf('/') + 1)
}

/** Several keys in one parameter, in the API's format. */
export const keysParameter = (keys: readonly string[]): string =>
  keys.map(key => key.replace(/[\\,]/g, '\\$&')).join(',')
