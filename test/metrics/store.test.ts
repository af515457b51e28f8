import test from 'ava'
import fc from 'fast-check'
import { readKeys, readSeries } from '../../query-api/metrics/read.ts'
import { readTail } from '../../query-api/metrics/tail.ts'
import {
  compact,
  emptyStore,
  flush,
  flushInVain,
  type Point,
  report,
  type Store,
  startMs,
} from './given.ts'

const everything = {
  axis: 'step',
  from: Number.NEGATIVE_INFINITY,
  to: Number.POSITIVE_INFINITY,
} as const

/** The rule: for each key and step, the value reported last. */
class Model {
  readonly series = new Map<string, Map<number, Point['value']>>()
  add(points: readonly Point[]) {
    for (const { key, step, value } of points) {
      const series = this.series.get(key) ?? new Map<number, Point['value']>()
      series.set(step, value)
      this.series.set(key, series)
    }
  }
  get keys() {
    return [...this.series.keys()].sort()
  }
  values(key: string) {
    return [...(this.series.get(key) ?? [])].sort(([a], [b]) => a - b)
  }
}

async function valuesOf(store: Store, runId: string, keys: readonly string[]) {
  const answers = await readSeries(store.db, runId, { ...everything, keys, buckets: 1_000_000 })
  return answers.map(({ points }) => points.map(([step, , , , last]) => [step, last]))
}

const value = fc.oneof(
  fc.integer({ min: -1000, max: 1000 }),
  fc.double({ min: -10, max: 10, noNaN: true }).map(v => v + 0),
  fc.constantFrom<Point['value'][]>('NaN', 'Infinity', '-Infinity'),
)
const point: fc.Arbitrary<Point> = fc.record({
  key: fc.constantFrom('loss', 'acc', 'lr'),
  step: fc.oneof(fc.integer({ min: 0, max: 40 }), fc.integer({ min: -5, max: 100_000 })),
  value,
})
const points = fc.oneof(
  fc.array(point, { minLength: 1, maxLength: 12 }),
  // Typical of a run: it continues where it was, or resumes slightly earlier.
  fc
    .record({ from: fc.integer({ min: 0, max: 60 }), rows: fc.integer({ min: 1, max: 20 }), value })
    .map(({ from, rows, value }) =>
      Array.from({ length: rows * 2 }, (_, i) => ({
        key: i % 2 === 0 ? 'loss' : 'acc',
        step: from + Math.floor(i / 2),
        value,
      })),
    ),
)
const action = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('flush' as const),
      reports: fc.array(points, { minLength: 1, maxLength: 4 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('fail' as const),
      reports: fc.array(points, { minLength: 1, maxLength: 2 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('compact' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('settle' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('resend' as const) }) },
)

type Action = typeof action extends fc.Arbitrary<infer A> ? A : never

/** The history of a run. */
type Run = { id: string; model: Model; previous: Point[][]; arrived: number }

async function act(store: Store, run: Run, action: Action): Promise<void> {
  if (action.do === 'compact') return compact(store, run.id)
  if (action.do === 'settle') return compact(store, run.id, startMs + 3_600_000)
  const given = action.do === 'resend' ? run.previous : action.reports
  const records = given.map(points => report(run.id, points))
  if (records.length === 0) return
  if (action.do === 'fail') return flushInVain(store, records)
  await flush(store, records)
  run.previous = given
  run.arrived += given.length
  for (const points of given) run.model.add(points)
}

test('however reports are flushed, repeated, compacted and settled, a series holds the last value of each step', async t => {
  const store = await emptyStore(t)
  let runs = 0
  await fc.assert(
    fc.asyncProperty(fc.array(action, { minLength: 1, maxLength: 12 }), async actions => {
      const run: Run = { id: `run_${runs++}`, model: new Model(), previous: [], arrived: 0 }
      for (const action of actions) await act(store, run, action)
      const { keys } = run.model
      const values = keys.map(key => run.model.values(key))
      t.deepEqual(await valuesOf(store, run.id, keys), values)
      t.deepEqual(await readKeys(store.db, run.id), expectedKeys(run.model))
      t.deepEqual(await streamed(store, run.id), { values, last: run.arrived })
    }),
    { numRuns: 60 },
  )
})

function expectedKeys(model: Model) {
  return model.keys.map(key => {
    const values = model.values(key)
    const finite = values.flatMap(([, value]) => (typeof value === 'number' ? [value] : []))
    return {
      key,
      count: values.length,
      last: values.at(-1)?.[1],
      min: finite.length > 0 ? Math.min(...finite) + 0 : null,
      max: finite.length > 0 ? Math.max(...finite) + 0 : null,
      first_step: values[0]?.[0],
      last_step: values.at(-1)?.[0],
    }
  })
}

/** The points that a reader of the stream gets from the beginning, disconnected and resumed at every frame. */
async function streamed(store: Store, runId: string) {
  const model = new Model()
  let after = 0
  for (;;) {
    const { frames, last, more } = await readTail(store.db, runId, { after, keys: null })
    const [frame] = frames
    if (frame) model.add(frame.points)
    after = frame && frames.length > 1 ? frame.last : last
    if (frames.length <= 1 && !more)
      return { values: model.keys.map(k => model.values(k)), last: after }
  }
}
