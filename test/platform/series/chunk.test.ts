import test from 'ava'
import fc from 'fast-check'
import {
  chunkPoints,
  cut,
  decodeChunk,
  emptySeries,
  encodeChunk,
  type Series,
  summarize,
} from '../../../platform/series/chunk.ts'
import { resolve } from '../../../platform/series/merge.ts'
import { anySeries, refusesFlips } from './arbitrary.ts'

const anyResolved = anySeries
  .map(series => resolve([series]))
  .filter(series => series.steps.length > 0)

test('a chunk returns its points exactly', t => {
  fc.assert(
    fc.property(anyResolved, series => {
      t.deepEqual(decodeChunk(encodeChunk(series)), toPlain(series))
    }),
  )
})

test('a chunk distinguishes 0 from -0, even among decimals and whole numbers', t => {
  for (const others of [[1, 2], [0.5, 0.25], [Math.PI], []]) {
    const values = [0, -0, ...others]
    const series = emptySeries(values.length)
    series.steps.set(values.map((_, i) => i))
    series.values.set(values)
    t.deepEqual([...decodeChunk(encodeChunk(series)).values].map(sign), values.map(sign))
  }
})

const sign = (value: number) => (Object.is(value, -0) ? '-0' : value)

test('a damaged chunk is an error, never other points', t => {
  refusesFlips(t, anyResolved, { encode: encodeChunk, decode: bytes => decodeChunk(bytes) })
})

test('a summary agrees with its points', t => {
  fc.assert(
    fc.property(anyResolved, series => {
      const summary = summarize(series)
      const finite = [...series.values].filter(Number.isFinite)
      t.is(summary.count, series.steps.length)
      t.is(summary.nonfinite, series.steps.length - finite.length)
      t.is(summary.min, finite.length > 0 ? finite.reduce((a, b) => Math.min(a, b)) + 0 : null)
      t.is(summary.max, finite.length > 0 ? finite.reduce((a, b) => Math.max(a, b)) + 0 : null)
      t.is(summary.first_step, Math.min(...series.steps))
      t.is(summary.last_step, Math.max(...series.steps))
      t.is(summary.last, series.values.at(-1) ?? 0)
      t.is(summary.last_ts, series.ts.at(-1) ?? 0)
      t.is(summary.max_ts, Math.max(...series.ts))
      t.is(summary.last_arrival, Math.max(...series.arrivals))
    }),
  )
})

test('a long series is cut into full chunks, and only the last may be short', t => {
  const lengthsOf = (length: number) => cut(emptySeries(length)).map(piece => piece.steps.length)
  t.deepEqual(lengthsOf(0), [])
  t.deepEqual(lengthsOf(1), [1])
  t.deepEqual(lengthsOf(chunkPoints), [chunkPoints])
  t.deepEqual(lengthsOf(chunkPoints + 1), [2049, 2048])
  t.deepEqual(lengthsOf(chunkPoints + 1024), [chunkPoints, 1024])
  t.deepEqual(lengthsOf(3 * chunkPoints + 1023), [chunkPoints, chunkPoints, 2560, 2559])
})

/** A noisy loss curve, as training code reports it, from a fixed seed. */
function lossCurve(round: (value: number) => number): Series {
  let state = 42
  const random = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
  const series = emptySeries(chunkPoints)
  for (let i = 0; i < chunkPoints; i++) {
    series.arrivals[i] = i
    series.steps[i] = i * 10
    series.ts[i] = 1_790_000_000_000 + i * 731 + Math.floor(random() * 9)
    series.values[i] = round(2 * Math.exp(-i / 900) + 0.3 + 0.1 * (random() + random() - 1))
  }
  return series
}

const sizes: [string, (value: number) => number, number][] = [
  ['values of full precision', value => value, 9],
  ['values of 32 bits', Math.fround, 5],
  ['values of four decimals', value => Math.round(value * 1e4) / 1e4, 4],
]
for (const [shape, round, most] of sizes)
  test(`a chunk of ${shape} takes less than ${most} bytes per point`, t => {
    const size = encodeChunk(lossCurve(round)).length / chunkPoints
    t.log(`${size.toFixed(2)} bytes a point`)
    t.true(size < most, `${size} bytes a point`)
  })

const toPlain = ({ arrivals, steps, ts, values }: Series): Series => ({
  arrivals: Float64Array.from(arrivals),
  steps: Float64Array.from(steps),
  ts: Float64Array.from(ts),
  values: Float64Array.from(values),
})
