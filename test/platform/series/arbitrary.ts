import type { ExecutionContext } from 'ava'
import fc from 'fast-check'
import type { Point } from '../../../platform/series/block.ts'
import type { Series } from '../../../platform/series/chunk.ts'
import { CorruptSeries } from '../../../platform/series/varint.ts'

const step = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: -50, max: 200 }) },
  { weight: 1, arbitrary: fc.maxSafeInteger() },
)
const ts = fc.oneof(
  fc.constant(1_790_000_000_000),
  fc.integer({ min: 1_789_999_999_000, max: 1_790_000_001_000 }),
  fc.integer({ min: -62_135_596_800_000, max: 253_402_300_799_999 }),
)
const value = fc.oneof(
  fc.double(),
  fc.float(),
  fc.integer(),
  fc.constantFrom(0, -0, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 5e-324),
)
const key = fc.oneof(
  fc.constantFrom('loss', 'val/acc', 'lr', '指标', '🙂'),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 80 }),
)

export const anyPoint: fc.Arbitrary<Point> = fc.record({ key, step, ts_ms: ts, value })

/** Points as runs report them: regular steps for each key, the same time for all points of a step. */
const regularPoints: fc.Arbitrary<Point[]> = fc
  .record({
    keys: fc.uniqueArray(key, { minLength: 1, maxLength: 5 }),
    first: fc.integer({ min: 0, max: 1_000_000 }),
    stride: fc.integer({ min: 1, max: 100 }),
    rows: fc.integer({ min: 1, max: 60 }),
    float: fc.boolean(),
    seed: fc.double({ noNaN: true, noDefaultInfinity: true, min: -10, max: 10 }),
  })
  .map(({ keys, first, stride, rows, float, seed }) =>
    Array.from({ length: rows }, (_, i) =>
      keys.map((name, k) => {
        const raw = Math.sin(seed + i * 0.1 + k) / (i + 1)
        return {
          key: name,
          step: first + i * stride,
          ts_ms: 1_790_000_000_000 + i * 250,
          value: float ? Math.fround(raw) : raw,
        }
      }),
    ).flat(),
  )

export const anyPoints = fc.oneof(fc.array(anyPoint, { maxLength: 60 }), regularPoints)

/** Points of one key in order of arrival; steps may repeat. */
export const anySeries: fc.Arbitrary<Series> = fc
  .array(fc.record({ step, ts, value }), { maxLength: 80 })
  .map(points => ({
    arrivals: Float64Array.from(points, (_, i) => i),
    steps: Float64Array.from(points, p => p.step),
    ts: Float64Array.from(points, p => p.ts),
    values: Float64Array.from(points, p => p.value),
  }))

/** A byte of the output, by its position modulo the length, and the bits that change. */
export const anyFlip = fc.record({ place: fc.nat(), bits: fc.integer({ min: 1, max: 255 }) })

/** Fails unless the output is refused as corrupt, for any changed bits of one byte. */
export const refusesFlips = <T>(
  t: ExecutionContext,
  values: fc.Arbitrary<T>,
  { encode, decode }: { encode: (value: T) => Buffer; decode: (bytes: Buffer) => unknown },
): void =>
  fc.assert(
    fc.property(values, anyFlip, (value, flip) => {
      const damaged = flipped(encode(value), flip)
      t.throws(() => decode(damaged), { instanceOf: CorruptSeries })
    }),
  )

export function flipped(bytes: Buffer, { place, bits }: { place: number; bits: number }): Buffer {
  const damaged = Buffer.from(bytes)
  const at = place % damaged.length
  damaged[at] = (damaged[at] ?? 0) ^ bits
  return damaged
}
