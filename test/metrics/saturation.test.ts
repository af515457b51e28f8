import test from 'ava'
import {
  addSeries,
  addSummary,
  createBuckets,
  evenEdges,
  toBucketPoints,
} from '../../platform/series/buckets.ts'
import { combine, type Series, summarize } from '../../platform/series/chunk.ts'
import { readSeries } from '../../query-api/metrics/read.ts'
import { compact, emptyStore, flush, report, type Store } from './given.ts'

const huge = 1e308
const most = Number.MAX_VALUE

const seriesOf = (firstStep: number, values: number[]): Series => ({
  arrivals: new Float64Array(values.length),
  steps: Float64Array.from(values, (_, i) => firstStep + i),
  ts: Float64Array.from(values, (_, i) => firstStep + i),
  values: Float64Array.from(values),
})

const points = (firstStep: number, values: number[]) =>
  values.map((value, i) => ({ key: 'loss', step: firstStep + i, value }))

const summaryOf = async ({ pool }: Store) =>
  (await pool.query('select count, min, max, sum, exact from metric_summary')).rows[0]

test('the sum of one stretch, of two and of a bucket stays at the largest double', t => {
  const [up, down] = [seriesOf(0, [huge, huge]), seriesOf(2, [-huge, -huge])]
  t.is(summarize(up).sum, most)
  t.is(summarize(down).sum, -most)
  t.is(combine(summarize(up), { ...summarize(up), first_step: 9 }).sum, most)
  for (const add of [addSummary, addWhole]) {
    const buckets = createBuckets('step', evenEdges(0, 3, 1))
    for (const series of [up, up, down]) add(buckets, summarize(series), series)
    const [[, min, max, mean] = []] = toBucketPoints(buckets)
    t.deepEqual([min, max], [-huge, huge])
    t.true(typeof mean === 'number' && Math.abs(mean) <= huge, `${mean}`)
  }
})

function addWhole(buckets: ReturnType<typeof createBuckets>, _: unknown, series: Series): void {
  addSeries(buckets, series, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY)
}

test('reports whose sum is beyond the largest double are stored, in one flush and in several', async t => {
  const store = await emptyStore(t)
  await flush(store, [report('run_a', points(0, [huge, huge]))])
  for (const value of [huge, most, -1]) {
    const { count } = await summaryOf(store)
    await flush(store, [report('run_a', points(count, [value]))])
  }
  t.deepEqual(await summaryOf(store), { count: 5, min: -1, max: most, sum: most, exact: true })
  await flush(store, [report('run_b', points(0, [-huge]))])
  await flush(store, [report('run_b', points(1, [-huge]))])
  const { rows } = await store.pool.query('select sum from metric_latest where run_no = 2')
  t.deepEqual(rows, [{ sum: -most }])
})

test('sums are added exactly up to the largest double', async t => {
  const { pool } = await emptyStore(t)
  const cases: [number, number, number][] = [
    [0, most, most],
    [most, most, most],
    [-most, -most, -most],
    [most, -most, 0],
    [most / 2, most / 2, most],
    [Number.POSITIVE_INFINITY, 1, most],
    [0.1, 0.2, 0.1 + 0.2],
    [5e-324, -5e-324, 0],
    // Just halfway past the largest double, where the difference is rounded.
    [most - 2 ** 971, 1.5 * 2 ** 971, most],
  ]
  for (const [a, b, sum] of cases) {
    const { rows } = await pool.query(
      'select add_saturated($1::float8, $2) as ab, add_saturated($2::float8, $1) as ba',
      [a, b],
    )
    t.deepEqual(rows, [{ ab: sum, ba: sum }], `${a} + ${b}`)
  }
})

test('the compactor corrects a summary whose chunks sum up beyond the largest double', async t => {
  const store = await emptyStore(t)
  await flush(store, [report('run_a', points(0, Array(4096).fill(huge)))])
  await compact(store, 'run_a')
  await flush(store, [report('run_a', points(4096, Array(4096).fill(huge)))])
  await compact(store, 'run_a')
  await flush(store, [report('run_a', points(0, [huge]))])
  t.like(await summaryOf(store), { count: 8193, exact: false })
  await compact(store, 'run_a')
  t.deepEqual(await summaryOf(store), { count: 8192, min: huge, max: huge, sum: most, exact: true })
  const [series] = await readSeries(store.db, 'run_a', {
    keys: ['loss'],
    axis: 'step',
    from: 0,
    to: 8191,
    buckets: 2,
  })
  t.deepEqual(
    series?.points.map(([, , , mean]) => mean),
    [huge, huge],
  )
})
