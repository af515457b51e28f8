import test from 'ava'
import fc from 'fast-check'
import { Series } from '../../../../clients/cli/terminal/series.ts'

test('points in any order are sorted by step, and the later report of a step wins', t => {
  const points = fc.array(fc.tuple(fc.integer({ min: 0, max: 50 }), fc.double({ noNaN: true })))
  fc.assert(
    fc.property(points, reported => {
      const series = new Series()
      for (const [step, value] of reported) series.add(step, value)
      const wanted = [...new Map(reported)].sort(([a], [b]) => a - b)
      t.deepEqual([...series.points], wanted)
      t.deepEqual(series.last, wanted.at(-1) ?? null)
      t.is(series.count, wanted.length)
    }),
  )
})

test('a long series stays bounded and keeps its extremes and non-finite values', t => {
  const series = new Series()
  for (let step = 0; step < 100_000; step++)
    series.add(step, step === 31_337 ? 99 : step === 77_777 ? Number.NaN : Math.sin(step / 100))
  t.true(series.points.length <= 4096)
  t.is(series.range()?.max, 99)
  t.true((series.range()?.min ?? 0) < -0.999)
  t.true(series.points.some(([, value]) => Number.isNaN(value)))
  t.is(series.last?.[0], 99_999)
  t.true(series.points.every(([step], at, all) => at === 0 || (all[at - 1]?.[0] ?? 0) < step))
})
