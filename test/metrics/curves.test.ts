import test, { type ExecutionContext } from 'ava'
import { decodeCells, encodeCells } from '../../platform/series/cells.ts'
import type { CorruptSeries } from '../../platform/series/varint.ts'
import { readCurves } from '../../query-api/metrics/curves.ts'
import type { Axis, CurvesAsked } from '../../query-api/rules/curves.ts'
import { type Curve, type Grid, meanOf } from '../../query-api/rules/grid.ts'
import { compact, emptyStore, flush, type Point, report, type Store, startMs } from './given.ts'

/** A generator of uniform numbers below 1, the same for the same seed. */
function uniform(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

const everything = { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY }

const asked = (runIds: readonly string[], more: Partial<CurvesAsked> = {}): CurvesAsked => ({
  runs: runIds.map((runId, i) => ({ runId, startMs: startMs - i * 500 })),
  keys: ['loss'],
  axis: 'step',
  buckets: 1000,
  withExtremes: true,
  ...everything,
  ...more,
})

/** What the store was given: by run, step to value; the last report of a step wins. */
type Given = Map<string, Map<number, number>>

/** Runs of different lengths and intervals; some values not finite, some steps reported twice, some points not compacted. */
async function fill(store: Store, random: () => number): Promise<Given> {
  const given: Given = new Map()
  const lengths = [1, 40, 63, 300, 5000, 9000 + Math.floor(random() * 5000)]
  for (const [n, length] of lengths.entries()) {
    const runId = `run_${n}`
    const interval = 1 + Math.floor(random() * 12)
    const values = new Map<number, number>()
    given.set(runId, values)
    for (const [from, to] of [
      [0, 0.5],
      [0.5, 0.8],
      [0.8, 1],
    ].map(piece => piece.map(share => Math.floor(share * length)))) {
      const points = pointsOf(random, { from: from ?? 0, to: to ?? 0, interval })
      await flush(store, reportsOf(random, runId, points, values))
      if (to !== length || n % 2 === 0) await compact(store, runId)
    }
  }
  return given
}

/** The points, and some of them once more with other values; `values` takes what holds in the end. */
function reportsOf(
  random: () => number,
  runId: string,
  points: Point[],
  values: Map<number, number>,
) {
  const again = points.filter(() => random() < 0.01).map(one => ({ ...one, value: random() }))
  for (const { step, value } of [...points, ...again]) values.set(step, Number(value))
  return [points, again].filter(of => of.length > 0).map(of => report(runId, of))
}

function pointsOf(
  random: () => number,
  { from, to, interval }: { from: number; to: number; interval: number },
): Point[] {
  const jitter = () => (random() < 0.2 ? Math.floor(random() * interval) : 0)
  return Array.from({ length: to - from }, (_, i) => {
    const value = random() < 0.01 ? (['NaN', 'Infinity'] as const)[i % 2] : random() * 100 - 50
    return { key: 'loss', step: (from + i) * interval + jitter(), value: value ?? 'NaN' }
  })
}

const positionOf: Record<Axis, (step: number, run: number) => number> = {
  step: step => step,
  time: step => startMs + step * 1000,
  relative: (step, run) => step * 1000 + run * 500,
}

/** The same, point by point. */
function expected(points: Map<number, number>, grid: Grid, place: (step: number) => number) {
  const buckets = new Map<number, { x: number; values: number[] }>()
  for (const [step, value] of points) {
    const b = Math.floor(place(step) / grid.width) - grid.first
    if (b < 0 || b >= grid.length) continue
    const bucket = buckets.get(b) ?? { x: Number.NEGATIVE_INFINITY, values: [] }
    bucket.x = Math.max(bucket.x, place(step))
    if (Number.isFinite(value)) bucket.values.push(value)
    buckets.set(b, bucket)
  }
  return buckets
}

const isNear = (a: number, b: number) => Math.abs(a - b) <= 1e-4

/** The buckets of a curve that differ from those expected. */
function wrongIn(curve: Curve, buckets: ReturnType<typeof expected>): unknown[] {
  const wrong: unknown[] = []
  for (const [b, x] of curve.x.entries()) {
    const { x: rightX, values } = buckets.get(b) ?? { x: Number.NEGATIVE_INFINITY, values: [] }
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length
    const isRight =
      x === rightX &&
      curve.count[b] === values.length &&
      (values.length === 0
        ? Number.isNaN(meanOf(curve, b))
        : isNear(meanOf(curve, b), mean) &&
          isNear(curve.min[b] ?? 0, Math.min(...values)) &&
          isNear(curve.max[b] ?? 0, Math.max(...values)))
    if (!isRight) wrong.push({ b, x, rightX, values, mean: meanOf(curve, b) })
  }
  return wrong
}

type Case = { from: number; to: number; buckets: number; axis: Axis }

const axes = ['step', 'time', 'relative'] as const

function casesOf(random: () => number): Case[] {
  const ranges = [
    everything,
    { from: 1000, to: 1999 },
    { from: 7, to: 7 },
    { from: Math.floor(random() * 5000), to: Number.POSITIVE_INFINITY },
  ]
  const all = ranges.flatMap(range =>
    [2, 50, 1000, 2000].flatMap(buckets => axes.map(axis => ({ ...range, buckets, axis }))),
  )
  // Along time, buckets are exact where they are narrower than cells.
  return all.filter(({ axis, from, to, buckets }) => axis === 'step' || to - from < 2 * buckets)
}

/** Compares all curves of a case; returns the number of buckets. */
async function check(t: ExecutionContext, store: Store, given: Given, one: Case): Promise<number> {
  const { axis, buckets } = one
  const runIds = [...given.keys()]
  const place = (step: number) => positionOf[axis](step, 0)
  const range = { from: place(one.from), to: place(one.to) }
  const [of] = await readCurves(store.db, asked(runIds, { ...range, buckets, axis }))
  const grid = of?.grid ?? { width: 1, first: 0, length: 0 }
  t.true(grid.length <= buckets)
  let compared = 0
  for (const [i, [runId, values]] of [...given].entries()) {
    const right = expected(values, grid, step => positionOf[axis](step, i))
    const curve = of?.curves[i] ?? null
    t.is(curve === null, right.size === 0, `${runId} ${JSON.stringify(one)}`)
    if (curve) t.deepEqual(wrongIn(curve, right).slice(0, 3), [], `${runId} ${JSON.stringify(one)}`)
    compared += right.size
  }
  return compared
}

test('the curves of several runs equal a calculation point by point, for any range and number of buckets', async t => {
  const seed = Math.floor(Math.random() * 2 ** 32)
  t.log(`seed ${seed}`)
  const random = uniform(seed)
  const store = await emptyStore(t)
  const given = await fill(store, random)
  let compared = 0
  for (const one of casesOf(random)) compared += await check(t, store, given, one)
  t.true(compared > 3_000, `${compared} buckets`)
})

test('along time, no point of a long run is lost, and none is counted far from its place', async t => {
  const store = await emptyStore(t)
  const given = await fill(store, uniform(7))
  const runIds = [...given.keys()]
  const [of] = await readCurves(store.db, asked(runIds, { axis: 'time', buckets: 1000 }))
  for (const [i, runId] of runIds.entries()) {
    const curve = of?.curves[i]
    if (!curve || !of?.grid) throw new Error('no curve')
    const finite = [...(given.get(runId) ?? new Map()).values()].filter(Number.isFinite)
    t.is(
      curve.count.reduce((sum, one) => sum + one, 0),
      finite.length,
    )
    t.true(isNear(Math.min(...curve.min), Math.min(...finite)))
    t.true(isNear(Math.max(...curve.max), Math.max(...finite)))
  }
})

test('keys and runs without points have no curves', async t => {
  const store = await emptyStore(t)
  await flush(store, [report('run_0', [{ key: 'loss', step: 3, value: 2 }])])
  const [unknown, loss] = await readCurves(
    store.db,
    asked(['run_0', 'run_1'], { keys: ['x', 'loss'] }),
  )
  t.deepEqual(unknown, { key: 'x', grid: null, curves: [] })
  t.deepEqual(loss?.grid, { width: 1, first: 3, length: 1 })
  t.deepEqual(
    loss?.curves.map(curve => curve && [...curve.sum]),
    [[2], null],
  )
})

const series = (values: readonly number[], step = (i: number) => i) => ({
  arrivals: Float64Array.from(values, (_, i) => i),
  steps: Float64Array.from(values, (_, i) => step(i)),
  ts: Float64Array.from(values, (_, i) => startMs + i),
  values: Float64Array.from(values),
})
const hundred = Array.from({ length: 100 }, (_, i) => i)

test('cells begin at multiples of their width; a damaged byte is an error', t => {
  const encoded = encodeCells(series(hundred, i => 1000 + 3 * i))
  if (!encoded) throw new Error('no cells')
  const cells = decodeCells(encoded.cells)
  t.is(cells.width, 32)
  t.deepEqual([cells.firstStep + (cells.stepOffsets[0] ?? 0), cells.counts[0]], [1021, 8])
  t.is(
    cells.counts.reduce((sum, one) => sum + one, 0),
    100,
  )
  for (const i of [0, 7, 30, encoded.cells.length - 1]) {
    const damaged = Buffer.from(encoded.cells)
    damaged[i] = (damaged[i] ?? 0) ^ 1
    t.throws<CorruptSeries>(() => decodeCells(damaged), { name: 'CorruptSeries' })
  }
})

test('a chunk that is short, or whose values do not fit 32 bits, has no cells', t => {
  t.is(encodeCells(series(hundred.slice(0, 63))), null)
  t.is(encodeCells(series([...hundred, 1e300])), null)
  t.is(encodeCells(series([...hundred, 1e-300])), null)
  t.is(encodeCells(series(hundred, i => i * 1e9)), null)
  t.not(encodeCells(series([...hundred, 0, Number.NaN, Number.POSITIVE_INFINITY])), null)
})
