import test from 'ava'
import { exportPoints } from '../../query-api/metrics/export.ts'
import { readKeys, readSeries, type SeriesRequest } from '../../query-api/metrics/read.ts'
import { readHead, readTail } from '../../query-api/metrics/tail.ts'
import { compact, emptyStore, flush, report, type Store, startMs } from './given.ts'

const wave = (step: number) => ({ key: 'loss', step, value: Math.round(1000 * Math.sin(step)) })
const waves = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => wave(from + i))

/** 24,000 points: 20,000 in chunks and 4,000 not yet compacted, some of which replace stored ones. */
async function longRun(store: Store) {
  for (let from = 0; from < 20_000; from += 10_000)
    await flush(store, [report('run_a', waves(from, from + 10_000))])
  await compact(store, 'run_a')
  await flush(store, [report('run_a', waves(20_000, 24_000))])
  await flush(store, [report('run_a', [{ key: 'loss', step: 7000, value: 5000 }])])
}

const valueAt = (step: number) => (step === 7000 ? 5000 : wave(step).value)

const ask = (more: Partial<SeriesRequest> = {}): SeriesRequest => ({
  keys: ['loss'],
  axis: 'step',
  from: Number.NEGATIVE_INFINITY,
  to: Number.POSITIVE_INFINITY,
  buckets: 1000,
  ...more,
})

async function one(store: Store, request: SeriesRequest) {
  const [answer] = await readSeries(store.db, 'run_a', request)
  if (!answer) throw new Error('no answer')
  return answer
}

/** Compares each bucket with the points between it and the previous bucket. */
function checkBuckets(points: readonly (readonly unknown[])[], first: number, last: number) {
  const wrong: unknown[] = []
  let from = first
  for (const [step, min, max, mean, lastValue, ts] of points) {
    const values = Array.from({ length: Number(step) - from + 1 }, (_, i) => valueAt(from + i))
    const sum = values.reduce((a, b) => a + b, 0)
    const right =
      min === Math.min(...values) &&
      max === Math.max(...values) &&
      Math.abs(Number(mean) - sum / values.length) < 1e-6 &&
      lastValue === valueAt(Number(step)) &&
      ts === startMs + Number(step) * 1000
    if (!right) wrong.push({ from, step, min, max, mean, lastValue, ts })
    from = Number(step) + 1
  }
  if (from !== last + 1) wrong.push({ endsAt: from - 1 })
  return wrong
}

test('a long series is returned in buckets with the true extremes of all its points', async t => {
  const store = await emptyStore(t)
  await longRun(store)
  for (const buckets of [1, 2, 5, 100, 1000]) {
    const { bucketed, points } = await one(store, ask({ buckets }))
    t.true(bucketed)
    t.true(points.length <= buckets && points.length > buckets * 0.9, `${points.length} points`)
    t.deepEqual(checkBuckets(points, 0, 23_999), [])
  }
})

test('buckets by time are the same, because the times ascend with the steps', async t => {
  const store = await emptyStore(t)
  await longRun(store)
  const byStep = await one(store, ask({ buckets: 240 }))
  t.deepEqual(await one(store, ask({ buckets: 240, axis: 'time' })), byStep)
})

test('a range has its own buckets, or is returned as points if it fits', async t => {
  const store = await emptyStore(t)
  await longRun(store)
  const part = await one(store, ask({ from: 6500, to: 9499, buckets: 100 }))
  t.true(part.bucketed)
  t.deepEqual(checkBuckets(part.points, 6500, 9499), [])
  const near = await one(store, ask({ from: 6990, to: 7010 }))
  t.false(near.bucketed)
  t.deepEqual(
    near.points.map(([step, min, max, mean, last, ts]) => [step, min, max, mean, last, ts]),
    Array.from({ length: 21 }, (_, i) => {
      const step = 6990 + i
      const value = valueAt(step)
      return [step, value, value, value, value, startMs + step * 1000]
    }),
  )
  const timed = await one(
    store,
    ask({ axis: 'time', from: startMs + 6_990_000, to: startMs + 7_010_000 }),
  )
  t.deepEqual(timed, near)
})

test('as many points as buckets are returned unbucketed', async t => {
  const store = await emptyStore(t)
  await flush(store, [report('run_a', waves(0, 100))])
  t.false((await one(store, ask({ buckets: 100 }))).bucketed)
  t.true((await one(store, ask({ buckets: 99 }))).bucketed)
})

test('non-finite values are shown as words and marked', async t => {
  const store = await emptyStore(t)
  await flush(store, [
    report('run_a', [
      { key: 'loss', step: 1, value: 1 },
      { key: 'loss', step: 2, value: 'NaN' },
      { key: 'loss', step: 3, value: '-Infinity' },
    ]),
  ])
  const raw = await one(store, ask())
  t.deepEqual(raw.points.at(-1), [3, null, null, null, '-Infinity', startMs + 3000])
  t.deepEqual(raw.nonfinite, [
    [2, 1],
    [3, 1],
  ])
  const { points, nonfinite } = await one(store, ask({ buckets: 1 }))
  t.deepEqual(points, [[3, 1, 1, 1, '-Infinity', startMs + 3000]])
  t.deepEqual(nonfinite, [[3, 2]])
})

test('a key or run without points is empty, and keys are in the requested order', async t => {
  const store = await emptyStore(t)
  await flush(store, [report('run_a', [wave(1)]), report('run_b', [{ ...wave(1), key: 'acc' }])])
  const answers = await readSeries(store.db, 'run_a', ask({ keys: ['none', 'acc', 'loss'] }))
  t.deepEqual(
    answers.map(({ key, points }) => [key, points.length]),
    [
      ['none', 0],
      ['acc', 0],
      ['loss', 1],
    ],
  )
  t.like(await readSeries(store.db, 'run_x', ask()), [{ key: 'loss', bucketed: false, points: [] }])
  t.deepEqual(await readKeys(store.db, 'run_x'), [])
  t.is(await readHead(store.db, 'run_x'), 0)
  t.deepEqual(await readTail(store.db, 'run_x', { after: 9, keys: null }), {
    frames: [],
    last: 0,
    more: false,
  })
})

test('keys are exact while repeated steps wait', async t => {
  const store = await emptyStore(t)
  await longRun(store)
  t.like(await readKeys(store.db, 'run_a'), [
    {
      key: 'loss',
      count: 24_000,
      max: 5000,
      first_step: 0,
      last_step: 23_999,
      last: valueAt(23_999),
    },
  ])
})

test('a stream resumed at any cursor continues with the next report, before and after compaction', async t => {
  const store = await emptyStore(t)
  const reports = Array.from({ length: 30 }, (_, i) => [wave(i * 2), wave(i * 2 + 1)])
  for (let i = 0; i < 30; i += 4)
    await flush(
      store,
      reports.slice(i, i + 4).map(points => report('run_a', points)),
    )
  t.is(await readHead(store.db, 'run_a'), 30)
  const rest = async (after: number) => {
    const { frames, last } = await readTail(store.db, 'run_a', { after, keys: null })
    t.is(last, 30)
    return frames.flatMap(frame => frame.points.map(({ step }) => step))
  }
  const expected = (after: number) => reports.slice(after).flatMap(p => p.map(({ step }) => step))
  for (const compacted of [false, true]) {
    if (compacted) await compact(store, 'run_a')
    for (let after = 0; after <= 30; after++) t.deepEqual(await rest(after), expected(after))
  }
  await flush(store, [report('run_a', [wave(100)])])
  const first = await readTail(store.db, 'run_a', { after: 28, keys: null })
  t.deepEqual([first.last, first.more], [30, true])
  const second = await readTail(store.db, 'run_a', { after: first.last, keys: null })
  t.deepEqual(second.frames, [{ last: 31, points: [{ ...wave(100), ts: startMs + 100_000 }] }])
})

test('the cursor of a stream of some keys counts skipped reports too', async t => {
  const store = await emptyStore(t)
  await flush(store, [report('run_a', [wave(1)]), report('run_a', [{ ...wave(1), key: 'acc' }])])
  const tail = await readTail(store.db, 'run_a', { after: 0, keys: ['acc'] })
  t.deepEqual([tail.last, tail.frames.map(frame => frame.last)], [2, [2]])
  t.deepEqual(
    tail.frames[0]?.points.map(point => point.key),
    ['acc'],
  )
  t.deepEqual(await readTail(store.db, 'run_a', { after: 0, keys: ['none'] }), {
    frames: [],
    last: 2,
    more: false,
  })
})

test('a long stream arrives in pages and frames that end between reports', async t => {
  const store = await emptyStore(t)
  for (let from = 0; from < 20_000; from += 500)
    await flush(store, [
      report('run_a', waves(from, from + 250)),
      report('run_a', waves(from + 250, from + 500)),
    ])
  await compact(store, 'run_a')
  await flush(store, [report('run_a', waves(20_000, 20_100))])
  const steps: number[] = []
  let after = 0
  let pages = 0
  for (let more = true; more; pages++) {
    const tail = await readTail(store.db, 'run_a', { after, keys: null })
    for (const frame of tail.frames) {
      t.true(frame.points.length <= 1274)
      steps.push(...frame.points.map(point => point.step))
    }
    after = tail.last
    more = tail.more
  }
  t.deepEqual(
    steps,
    Array.from({ length: 20_100 }, (_, i) => i),
  )
  t.true(pages > 3)
})

async function exported(store: Store, format: 'csv' | 'jsonl', keys: string[] | null = null) {
  let text = ''
  for await (const piece of exportPoints(store.db, 'run_a', { format, keys })) text += piece
  return text
}

test('an export has every point once, the newest of each step', async t => {
  const store = await emptyStore(t)
  await longRun(store)
  const lines = (await exported(store, 'csv')).trimEnd().split('\n')
  t.is(lines[0], 'key,step,value,ts')
  t.deepEqual(
    lines.slice(1),
    Array.from({ length: 24_000 }, (_, s) => `loss,${s},${valueAt(s)},${startMs + s * 1000}`),
  )
})

test('a key in a CSV export never runs as a formula, and a negative value stays a number', async t => {
  const store = await emptyStore(t)
  await flush(store, [
    report('run_a', [
      { key: '=1+1', step: 1, value: -0.5 },
      { key: '-lr', step: 1, value: '-Infinity' },
    ]),
  ])
  const ts = startMs + 1000
  t.is(
    await exported(store, 'csv'),
    `key,step,value,ts\n'-lr,1,-Infinity,${ts}\n'=1+1,1,-0.5,${ts}\n`,
  )
})

test('an export quotes as CSV requires and names non-finite values', async t => {
  const store = await emptyStore(t)
  await flush(store, [
    report('run_a', [
      { key: 'a "b", c', step: 1, value: 'NaN' },
      { key: 'loss', step: 1, value: 0.5 },
    ]),
  ])
  const ts = startMs + 1000
  t.is(
    await exported(store, 'csv'),
    `key,step,value,ts\n"a ""b"", c",1,NaN,${ts}\nloss,1,0.5,${ts}\n`,
  )
  t.is(
    await exported(store, 'jsonl'),
    `{"key":"a \\"b\\", c","step":1,"value":"NaN","ts":${ts}}\n{"key":"loss","step":1,"value":0.5,"ts":${ts}}\n`,
  )
  t.is(await exported(store, 'jsonl', ['loss']), `{"key":"loss","step":1,"value":0.5,"ts":${ts}}\n`)
})
