import test from 'ava'
import { type Drawn, KeptSeries } from '../../query-api/metrics/kept-series.ts'
import { readSeries } from '../../query-api/metrics/read.ts'
import { compact, emptyStore, flush, report } from './given.ts'

const drawn = (points: number): Drawn => ({
  bucketed: true,
  points: Array.from({ length: points }, (_, n) => [n, 0, 0, 0, 0, 0]),
  nonfinite: [],
})

test('the least recently used series is dropped first, and a huge one is not kept', t => {
  const kept = new KeptSeries(100_000)
  for (const name of ['a', 'b', 'c']) kept.keep(name, drawn(100))
  kept.get('a')
  for (let n = 0; n < 8; n++) kept.keep(`more ${n}`, drawn(100))
  t.is(kept.get('b'), null)
  t.truthy(kept.get('a'))
  kept.keep('huge', drawn(1000))
  t.is(kept.get('huge'), null)
})

const all = { axis: 'step', from: -Infinity, to: Infinity, buckets: 5 } as const

test('a cached series equals a newly drawn one, and new points invalidate it', async t => {
  const store = await emptyStore(t)
  const points = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, n) => ({ key: 'loss', step: from + n, value: n }))
  await flush(store, [report('run_a', points(0, 3000))])
  await compact(store, 'run_a')
  const kept = new KeptSeries()
  const read = (keys: string[]) => readSeries(store.db, 'run_a', { ...all, keys }, kept)
  const first = await read(['loss'])
  t.is((await read(['loss']))[0]?.points, first[0]?.points, 'the very same one')
  t.deepEqual(await readSeries(store.db, 'run_a', { ...all, keys: ['loss'] }), first)
  t.deepEqual(
    (await read(['none', 'loss'])).map(({ key }) => key),
    ['none', 'loss'],
  )
  await flush(store, [report('run_a', [{ key: 'loss', step: 1500, value: 9999 }])])
  const again = await read(['loss'])
  t.true(again[0]?.points.some(([, , max]) => max === 9999))
  t.false(first[0]?.points.some(([, , max]) => max === 9999))
})
