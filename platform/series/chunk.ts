import { readValues, writeValuesDense } from './doubles.ts'
import { readInts, writeInts } from './ints.ts'
import { sealedFormat } from './sealed.ts'
import { saturate } from './sum.ts'
import { at, CorruptSeries, maxVarintBytes, readVarint, reserve, writeVarint } from './varint.ts'

const format = sealedFormat({ version: 1, maxBodyBytes: 64 * 1024 * 1024 })
const zstdLevel = 3
/** Maximum points of a chunk. */
export const chunkPoints = 4096

/**
 * Points of one key. `arrivals` numbers the log record that brought each point; `ts` is epoch milliseconds.
 * A series is *resolved* when its steps strictly ascend.
 */
export type Series = {
  arrivals: Float64Array
  steps: Float64Array
  ts: Float64Array
  values: Float64Array
}

/** The summary of a resolved stretch, available without decoding it. Extremes and the saturated sum are over finite values. */
export type Summary = {
  first_step: number
  last_step: number
  count: number
  /** Number of values that are NaN or infinite. */
  nonfinite: number
  /** Null if no value is finite. */
  min: number | null
  max: number | null
  sum: number
  /** The value at `last_step`, finite or not, and its time. */
  last: number
  last_ts: number
  /** Least and greatest time. */
  first_ts: number
  max_ts: number
  /** Least and greatest arrival. */
  first_arrival: number
  last_arrival: number
}

/** Encodes a resolved, non-empty series. */
export function encodeChunk(series: Series): Buffer {
  const count = series.steps.length
  return format.encode(to => {
    reserve(to, maxVarintBytes)
    writeVarint(to, count)
    for (const column of [series.arrivals, series.steps, series.ts])
      writeInts(to, column, { from: 0, count, before: -1 })
    writeValuesDense(to, series.values, 0, count)
    return zstdLevel
  })
}

/**
 * Throws `CorruptSeries` for anything that `encodeChunk` did not write. With a large enough `reuse`, the points are
 * put into its memory and valid until its next use: a chart reads many chunks, and allocating memory for each costs
 * more than decoding it.
 */
export function decodeChunk(bytes: Buffer, reuse?: Series): Series {
  const reader = format.open(bytes)
  const count = readVarint(reader)
  if (count > chunkPoints * 16) throw new CorruptSeries('more points than a chunk has')
  const roomy = reuse !== undefined && reuse.steps.length >= count
  const series = roomy ? slice(reuse, 0, count) : emptySeries(count)
  for (const column of [series.arrivals, series.steps, series.ts])
    readInts(reader, column, { from: 0, count, before: -1 })
  readValues(reader, series.values, 0, count)
  if (reader.at !== reader.end) throw new CorruptSeries('bytes are left over')
  return series
}

export const emptySeries = (length: number): Series => ({
  arrivals: new Float64Array(length),
  steps: new Float64Array(length),
  ts: new Float64Array(length),
  values: new Float64Array(length),
})

/** The first index, from `from` on, whose step is `step` or greater; the steps ascend. */
export function indexOfStep(steps: Float64Array, step: number, from = 0): number {
  let low = from
  let high = steps.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (at(steps, middle) < step) low = middle + 1
    else high = middle
  }
  return low
}

/** A stretch of a series, sharing its memory. */
export const slice = (series: Series, from: number, to: number): Series => ({
  arrivals: series.arrivals.subarray(from, to),
  steps: series.steps.subarray(from, to),
  ts: series.ts.subarray(from, to),
  values: series.values.subarray(from, to),
})

/** Summarizes a resolved, non-empty series. */
export function summarize(series: Series): Summary {
  const count = series.steps.length
  const [first_ts, max_ts] = rangeOf(series.ts)
  const [first_arrival, last_arrival] = rangeOf(series.arrivals)
  return {
    first_step: at(series.steps, 0),
    last_step: at(series.steps, count - 1),
    count,
    last: at(series.values, count - 1),
    last_ts: at(series.ts, count - 1),
    first_ts,
    max_ts,
    first_arrival,
    last_arrival,
    ...summarizeValues(series.values),
  }
}

function rangeOf(column: Float64Array): [number, number] {
  let least = Number.POSITIVE_INFINITY
  let greatest = Number.NEGATIVE_INFINITY
  for (const value of column) {
    if (value < least) least = value
    if (value > greatest) greatest = value
  }
  return [least, greatest]
}

function summarizeValues(values: Float64Array) {
  let sum = 0
  let nonfinite = 0
  let min = Number.POSITIVE_INFINITY
  let max = Number.NEGATIVE_INFINITY
  for (const value of values) {
    if (!Number.isFinite(value)) {
      nonfinite++
      continue
    }
    sum += value
    if (value < min) min = value
    if (value > max) max = value
  }
  const none = nonfinite === values.length
  // 0 and -0 are equal, so the result would depend on which came first: adding 0 makes both 0.
  return {
    sum: saturate(sum),
    nonfinite,
    min: none ? null : min + 0,
    max: none ? null : max + 0,
  }
}

/** Joins the summaries of two stretches that share no step. */
export function combine(a: Summary, b: Summary): Summary {
  const later = a.last_step > b.last_step ? a : b
  return {
    first_step: Math.min(a.first_step, b.first_step),
    last_step: later.last_step,
    count: a.count + b.count,
    nonfinite: a.nonfinite + b.nonfinite,
    min: a.min === null || b.min === null ? (a.min ?? b.min) : Math.min(a.min, b.min),
    max: a.max === null || b.max === null ? (a.max ?? b.max) : Math.max(a.max, b.max),
    sum: saturate(a.sum + b.sum),
    last: later.last,
    last_ts: later.last_ts,
    first_ts: Math.min(a.first_ts, b.first_ts),
    max_ts: Math.max(a.max_ts, b.max_ts),
    first_arrival: Math.min(a.first_arrival, b.first_arrival),
    last_arrival: Math.max(a.last_arrival, b.last_arrival),
  }
}

/** No chunk is cut shorter than this, except a series' only or last one. */
const minChunkPoints = 1024

/** Cuts a series into stretches of `chunkPoints`; a short rest and the stretch before it are split evenly. */
export function cut(series: Series): Series[] {
  const total = series.steps.length
  const cuts: Series[] = []
  let from = 0
  while (total - from >= chunkPoints + minChunkPoints) {
    cuts.push(slice(series, from, from + chunkPoints))
    from += chunkPoints
  }
  if (total - from > chunkPoints) {
    const middle = from + Math.ceil((total - from) / 2)
    cuts.push(slice(series, from, middle))
    from = middle
  }
  if (total > from) cuts.push(slice(series, from, total))
  return cuts
}
