import type { Series } from './chunk.ts'
import { seal, unseal } from './sealed.ts'
import { saturate } from './sum.ts'
import { at, CorruptSeries } from './varint.ts'

/**
 * The points of a chunk by cells of `width` steps, a power of two; a cell begins at a multiple of it. So every bucket that is
 * as wide or wider, and also begins at a multiple of its width, holds whole cells only, however the chunks are cut.
 */
export type Cells = {
  width: number
  /** Number of finite values. */
  counts: Uint16Array
  /** NaN for a cell without finite values. */
  means: Float32Array
  /** Step and time of the last point: base + offset. */
  firstStep: number
  firstTs: number
  stepOffsets: Uint32Array
  tsOffsets: Uint32Array
}

export type Extremes = { mins: Float32Array; maxs: Float32Array }

const version = 1
const headBytes = 32
const maxBytes = 16 * 1024 * 1024
/** Chunks shorter than this are decoded as fast. */
const leastPoints = 64
/** Up to this many evenly spaced points in a cell. */
const pointsOfCell = 16
/** Values that a 32-bit float holds with full precision. */
const float32 = { least: 1e-37, greatest: 3e38 } as const

/** The two parts that are stored; null if the points are too few, or do not fit 32 bits. */
export function encodeCells(series: Series): { cells: Buffer; extremes: Buffer } | null {
  const { steps, ts, values } = series
  const count = steps.length
  if (count < leastPoints) return null
  const firstStep = at(steps, 0)
  const span = at(steps, count - 1) - firstStep
  const firstTs = ts.reduce((least, one) => Math.min(least, one), Number.POSITIVE_INFINITY)
  const lastTs = ts.reduce((most, one) => Math.max(most, one), Number.NEGATIVE_INFINITY)
  if (span > 2 ** 32 - 1 || lastTs - firstTs > 2 ** 32 - 1 || !values.every(fitsFloat32))
    return null
  const width = 2 ** Math.floor(Math.log2((pointsOfCell * span) / (count - 1)))
  const starts = startsOf(steps, width)
  const length = starts.length
  const body = roomFor(headBytes + length * 14)
  body.writeUInt32LE(length, 0)
  new Float64Array(body.buffer, body.byteOffset + 8, 3).set([width, firstStep, firstTs])
  const columns = columnsOf(body)
  const extremes = roomFor(length * 8)
  const { mins, maxs } = extremesOf(extremes)
  for (const [c, from] of starts.entries()) {
    const to = starts[c + 1] ?? count
    const cell = sumUp(values, from, to)
    columns.counts[c] = cell.finite
    columns.means[c] = cell.sum / cell.finite
    columns.stepOffsets[c] = at(steps, to - 1) - firstStep
    columns.tsOffsets[c] = at(ts, to - 1) - firstTs
    mins[c] = cell.min
    maxs[c] = cell.max
  }
  return { cells: seal(version, body, null), extremes: seal(version, extremes, null) }
}

const fitsFloat32 = (value: number) => {
  const size = Math.abs(value)
  return (
    !Number.isFinite(value) || size === 0 || (size >= float32.least && size <= float32.greatest)
  )
}

/** The index of the first point of each cell. */
function startsOf(steps: Float64Array, width: number): number[] {
  const starts: number[] = []
  let cell = Number.NaN
  for (let i = 0; i < steps.length; i++) {
    const of = Math.floor(at(steps, i) / width)
    if (of !== cell) starts.push(i)
    cell = of
  }
  return starts
}

function sumUp(values: Float64Array, from: number, to: number) {
  let sum = 0
  let finite = 0
  let min = Number.POSITIVE_INFINITY
  let max = Number.NEGATIVE_INFINITY
  for (let i = from; i < to; i++) {
    const value = at(values, i)
    if (!Number.isFinite(value)) continue
    finite++
    sum += value
    min = Math.min(min, value)
    max = Math.max(max, value)
  }
  return { sum: saturate(sum), finite, min, max }
}

/** Throws `CorruptSeries` for anything that `encodeCells` did not write. */
export function decodeCells(bytes: Buffer): Cells {
  const body = aligned(unseal(version, bytes, maxBytes))
  if (body.length < headBytes) throw new CorruptSeries('shorter than its head')
  if (body.length !== headBytes + body.readUInt32LE(0) * 14)
    throw new CorruptSeries('another length than its cells have')
  const [width = 1, firstStep = 0, firstTs = 0] = new Float64Array(
    body.buffer,
    body.byteOffset + 8,
    3,
  )
  return { width, firstStep, firstTs, ...columnsOf(body) }
}

export const decodeExtremes = (bytes: Buffer): Extremes =>
  extremesOf(aligned(unseal(version, bytes, maxBytes)))

/** Typed arrays must begin at a multiple of their elements' size. */
const roomFor = (bytes: number): Buffer => Buffer.from(new ArrayBuffer(bytes))

function aligned(body: Buffer): Buffer {
  const copy = roomFor(body.length)
  copy.set(body)
  return copy
}

function columnsOf(body: Buffer): Omit<Cells, 'width' | 'firstStep' | 'firstTs'> {
  const { buffer, byteOffset } = body
  const length = body.readUInt32LE(0)
  const from = (column: number) => byteOffset + headBytes + length * 4 * column
  return {
    means: new Float32Array(buffer, from(0), length),
    stepOffsets: new Uint32Array(buffer, from(1), length),
    tsOffsets: new Uint32Array(buffer, from(2), length),
    counts: new Uint16Array(buffer, from(3), length),
  }
}

function extremesOf({ buffer, byteOffset, length }: Buffer): Extremes {
  const half = length / 8
  return {
    mins: new Float32Array(buffer, byteOffset, half),
    maxs: new Float32Array(buffer, byteOffset + half * 4, half),
  }
}
