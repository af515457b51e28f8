import test from 'ava'
import fc from 'fast-check'
import type { Series } from '../../../platform/series/chunk.ts'
import {
  decodeNumberedBlock,
  encodeNumberedBlock,
} from '../../../platform/series/numbered-block.ts'
import { anySeries, refusesFlips } from './arbitrary.ts'

const anyBlock = fc
  .array(fc.tuple(fc.integer({ min: 1, max: 100_000 }), anySeries), { maxLength: 6 })
  .map(parts => parts.filter(([, series]) => series.steps.length > 0))
  .map(parts => ({
    keys: parts.map(([key]) => key),
    counts: parts.map(([, series]) => series.steps.length),
    points: concatenate(parts.map(([, series]) => series)),
  }))

const concatenate = (all: Series[]): Series => ({
  arrivals: Float64Array.from(all.flatMap(series => [...series.arrivals])),
  steps: Float64Array.from(all.flatMap(series => [...series.steps])),
  ts: Float64Array.from(all.flatMap(series => [...series.ts])),
  values: Float64Array.from(all.flatMap(series => [...series.values])),
})

test('a numbered block returns keys, arrivals and points exactly', t => {
  fc.assert(
    fc.property(anyBlock, block => {
      t.deepEqual(decodeNumberedBlock(encodeNumberedBlock(block)), block)
    }),
  )
})

test('a damaged run block is an error, never other points', t => {
  refusesFlips(t, anyBlock, {
    encode: encodeNumberedBlock,
    decode: bytes => decodeNumberedBlock(bytes),
  })
})

test('seven requests of 16 keys joined take less than 10 bytes a point', t => {
  const requests = 7
  const keys = Array.from({ length: 16 }, (_, k) => k + 1)
  const perPoint = (of: (request: number, key: number) => number) =>
    Float64Array.from(keys.flatMap(k => Array.from({ length: requests }, (_, r) => of(r, k))))
  const bytes = encodeNumberedBlock({
    keys,
    counts: keys.map(() => requests),
    points: {
      arrivals: perPoint(r => 1000 + r),
      steps: perPoint(r => 5000 + r),
      ts: perPoint(r => 1_790_000_000_000 + r * 7 + (r % 3)),
      values: perPoint((r, k) => Math.sin(r * 17 + k)),
    },
  })
  const size = bytes.length / (16 * requests)
  t.true(size < 10, `${size} bytes a point`)
})
