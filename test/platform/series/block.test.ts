import test from 'ava'
import fc from 'fast-check'
import { decodeBlock, encodeBlock, type Point } from '../../../platform/series/block.ts'
import { createPoints, makeRoom } from '../../../platform/series/points.ts'
import { CorruptSeries } from '../../../platform/series/varint.ts'
import { anyFlip, anyPoints, flipped } from './arbitrary.ts'

function encodePoints(points: readonly Point[]): { bytes: Buffer; inserted: number } {
  const columns = createPoints(points.length)
  makeRoom(columns, points.length)
  points.forEach(({ step, ts_ms, value }, i) => {
    columns.steps[i] = step
    columns.ts[i] = ts_ms
    columns.values[i] = value
  })
  columns.length = points.length
  return encodeBlock(
    points.map(({ key }) => key),
    columns,
  )
}

function read(bytes: Buffer): Point[] {
  const into = createPoints(1)
  const { keys, counts, from } = decodeBlock(bytes, into)
  let i = from
  return keys.flatMap((key, k) =>
    Array.from({ length: counts[k] ?? 0 }, () => {
      const point = {
        key,
        step: into.steps[i] ?? 0,
        ts_ms: into.ts[i] ?? 0,
        value: into.values[i] ?? 0,
      }
      i++
      return point
    }),
  )
}

/** The expected content of a block: the last point of each key and step, with keys in order of their first point. */
function expected(points: Point[]): Point[] {
  const keys = [...new Set(points.map(point => point.key))]
  const isLast = (point: Point, i: number) =>
    !points.some((other, j) => j > i && other.key === point.key && other.step === point.step)
  return keys.flatMap(key => points.filter((point, i) => point.key === key && isLast(point, i)))
}

test('a block returns the last point of each key and step, exactly', t => {
  fc.assert(
    fc.property(anyPoints, points => {
      const { bytes, inserted } = encodePoints(points)
      const wanted = expected(points)
      t.deepEqual(read(bytes), wanted)
      t.is(inserted, wanted.length)
    }),
  )
})

test('a block of many long names is compressed and restored', t => {
  const points = Array.from({ length: 500 }, (_, i) => ({
    key: `model.layers.${i}.self_attn.q_proj.weight/gradient_norm`,
    step: 7,
    ts_ms: 1_790_000_000_000,
    value: Math.sin(i),
  }))
  const { bytes } = encodePoints(points)
  t.is(bytes[1], 1)
  t.true(bytes.length < 500 * 25, `${bytes.length} bytes`)
  t.deepEqual(read(bytes), points)
})

test('a changed bit or a cut anywhere is an error, never other points', t => {
  fc.assert(
    fc.property(anyPoints, anyFlip, (points, flip) => {
      const { bytes } = encodePoints(points)
      const cut = bytes.subarray(0, flip.place % bytes.length)
      for (const damaged of [flipped(bytes, flip), cut])
        t.throws(() => read(damaged), { instanceOf: CorruptSeries })
    }),
  )
})

test('a damaged block leaves earlier points unchanged', t => {
  const { bytes } = encodePoints([{ key: 'loss', step: 1, ts_ms: 2, value: 3 }])
  const into = createPoints(1)
  decodeBlock(bytes, into)
  t.throws(() => decodeBlock(bytes.subarray(0, -1), into), { instanceOf: CorruptSeries })
  t.is(into.length, 1)
  t.is(into.values[0], 3)
})

test('points of one request take at most 20 bytes each', t => {
  const sizeOf = (count: number, keys: number) => {
    const points = Array.from({ length: count }, (_, i) => ({
      key: `train/metric_${i % keys}`,
      step: Math.floor(i / keys),
      ts_ms: 1_790_000_000_000 + Math.floor(i / keys) * 137,
      value: Math.sin(i * 0.7) / (i + 1),
    }))
    return encodePoints(points).bytes.length / count
  }
  const size = sizeOf(1000, 16)
  t.true(size < 11, `${size} bytes a point`)
})
