import test from 'ava'
import fc from 'fast-check'
import {
  addSeries,
  addSummary,
  createBuckets,
  evenEdges,
  spareStretches,
  toBucketPoints,
  toNonfiniteMarks,
  toRawPoints,
} from '../../../platform/series/buckets.ts'
import { cut, type Series, slice, summarize } from '../../../platform/series/chunk.ts'
import { resolve } from '../../../platform/series/merge.ts'
import { anySeries } from './arbitrary.ts'

const all = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY] as const

const anyResolved = anySeries
  .map(series => resolve([series]))
  .filter(series => series.steps.length > 0)

const series = (steps: number[], values: number[]): Series => ({
  arrivals: Float64Array.from(steps, (_, i) => i),
  steps: Float64Array.from(steps),
  ts: Float64Array.from(steps, step => 1000 + step),
  values: Float64Array.from(values),
})

test('a bucket shows the true extremes, the mean and the last of its points', t => {
  const buckets = createBuckets('step', evenEdges(0, 9, 2))
  addSeries(buckets, series([0, 1, 2, 5, 9], [1, 7, -2, 4, 6]), ...all)
  t.deepEqual(toBucketPoints(buckets), [
    [2, -2, 7, 2, -2, 1002],
    [9, 4, 6, 5, 6, 1009],
  ])
})

test('non-finite values are marked and excluded from extremes and mean', t => {
  const buckets = createBuckets('step', evenEdges(0, 9, 2))
  addSeries(buckets, series([0, 1, 6, 7], [3, Number.NaN, Number.NaN, -Infinity]), ...all)
  t.deepEqual(toBucketPoints(buckets), [
    [1, 3, 3, 3, 'NaN', 1001],
    [7, null, null, null, '-Infinity', 1007],
  ])
  t.deepEqual(toNonfiniteMarks(buckets), [
    [1, 1],
    [7, 2],
  ])
})

test('the mean of huge values stays within them', t => {
  const buckets = createBuckets('step', evenEdges(0, 1, 1))
  addSeries(buckets, series([0, 1], [1.7e308, 1.6e308]), ...all)
  const [, min, max, mean] = toBucketPoints(buckets)[0] ?? []
  t.true(Number(mean) >= Number(min) && Number(mean) <= Number(max))
})

test('points outside the requested range are left out', t => {
  const buckets = createBuckets('step', evenEdges(2, 5, 2))
  addSeries(buckets, series([1, 2, 5, 6], [100, 1, 2, 100]), 2, 5)
  t.deepEqual(
    toBucketPoints(buckets).map(([step, min, max]) => [step, min, max]),
    [
      [2, 1, 1],
      [5, 2, 2],
    ],
  )
  t.deepEqual(
    toRawPoints('step', series([1, 2, 5, 6], [9, 1, 2, 9]), 2, 5).map(([step]) => step),
    [2, 5],
  )
})

for (const axis of ['step', 'time'] as const)
  test(`whole stretches counted by their summaries give the same buckets as their points, by ${axis}`, t => {
    fc.assert(
      fc.property(
        anyResolved,
        fc.integer({ min: 1, max: 20 }),
        fc.integer({ min: 1, max: 9 }),
        (points, count, pieces) => {
          const along = axis === 'step' ? points.steps : points.ts
          const edges = evenEdges(Math.min(...along), Math.max(...along), count)
          const whole = createBuckets(axis, edges)
          addSeries(whole, points, ...all)
          const mixed = createBuckets(axis, edges)
          for (const stretch of stretchesOf(points, pieces))
            if (!addSummary(mixed, summarize(stretch))) addSeries(mixed, stretch, ...all)
          t.deepEqual(withoutMean(mixed), withoutMean(whole))
          const counts = toBucketPoints(whole)
          t.is(counts.length, new Set(counts.map(([step]) => step)).size)
        },
      ),
    )
  })

/** Without means, because partial sums are rounded differently; either of 0 and -0 may be the minimum. */
const withoutMean = (buckets: ReturnType<typeof createBuckets>) =>
  toBucketPoints(buckets).map(([step, min, max, , last, ts]) => [
    step,
    min === null ? null : min + 0,
    max === null ? null : max + 0,
    last,
    ts,
  ])

function stretchesOf(points: Series, pieces: number): Series[] {
  const length = points.steps.length
  const edges = Array.from({ length: pieces + 1 }, (_, i) => Math.floor((i * length) / pieces))
  return edges
    .slice(1)
    .map((to, i) => slice(points, edges[i] ?? 0, to))
    .filter(stretch => stretch.steps.length > 0)
}

test('edges move so that they split no stretch, which then need not be read', t => {
  const length = 40 * 4096
  const points = series(
    Array.from({ length }, (_, i) => i),
    Array.from({ length }, (_, i) => Math.sin(i)),
  )
  const stretches = cut(points).map(summarize)
  const even = evenEdges(0, length - 1, 10)
  const edges = spareStretches(
    even,
    stretches.map(s => ({ first: s.first_step, last: s.last_step })),
  )
  const buckets = createBuckets('step', edges)
  t.true(stretches.every(stretch => addSummary(buckets, stretch)))
  t.is(toBucketPoints(buckets).length, 10)
  t.deepEqual(
    [...edges].sort((a, b) => a - b),
    [...edges],
  )
  const exact = createBuckets('step', edges)
  addSeries(exact, points, ...all)
  t.deepEqual(withoutMean(buckets), withoutMean(exact))
})
