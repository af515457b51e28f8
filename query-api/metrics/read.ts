import {
  addSeries,
  addSummary,
  createBuckets,
  evenEdges,
  extentOf,
  spareStretches,
  toBucketPoints,
  toNonfiniteMarks,
  toRawPoints,
} from '../../platform/series/buckets.ts'
import { combine, indexOfStep, type Series, summarize } from '../../platform/series/chunk.ts'
import { type JsonNumber, toJsonNumber } from '../../platform/series/json-number.ts'
import { resolve } from '../../platform/series/merge.ts'
import { type Drawn, KeptSeries } from './kept-series.ts'
import {
  type Db,
  eachChunk,
  findKeyNos,
  findMetricRun,
  findRunNo,
  type Header,
  inSnapshot,
  loadChunks,
  loadHeaders,
  loadWaiting,
  type Range,
} from './store.ts'

export type KeyRow = {
  key: string
  /** Distinct steps. */
  count: number
  last: JsonNumber
  min: number | null
  max: number | null
  first_step: number
  last_step: number
}

const everything: Range = {
  axis: 'step',
  from: Number.NEGATIVE_INFINITY,
  to: Number.POSITIVE_INFINITY,
}

/** The keys of a run, ordered by name. */
export const readKeys = (db: Db, runId: string): Promise<KeyRow[]> =>
  inSnapshot(db, async tx => {
    const runNo = await findRunNo(tx, runId)
    if (runNo === null) return []
    const rows = await tx
      .selectFrom('metric_summary as s')
      .innerJoin('metric_name as n', 'n.key_no', 's.key_no')
      .select(['n.key', 's.key_no', 's.count', 's.last', 's.min', 's.max', 's.exact'])
      .select(['s.first_step', 's.last_step'])
      .where('s.run_no', '=', runNo)
      .orderBy('n.key')
      .execute()
    const inexact = rows.filter(row => !row.exact).map(row => row.key_no)
    const corrected = await sumUp(tx, runNo, inexact)
    return rows.map(row => toKeyRow(row.key, { ...row, ...corrected.get(row.key_no) }))
  })

function toKeyRow(key: string, summary: Omit<KeyRow, 'key' | 'last'> & { last: number }): KeyRow {
  const { count, last, min, max, first_step, last_step } = summary
  return { key, count, last: toJsonNumber(last), min, max, first_step, last_step }
}

/** Exact summaries of keys whose stored summaries are stale because steps were repeated. */
async function sumUp(tx: Db, runNo: number, keyNos: number[]) {
  const summaries = new Map<number, ReturnType<typeof summarize>>()
  // Otherwise all uncompacted points would be read and decoded for nothing.
  if (keyNos.length === 0) return summaries
  const headers = await loadHeaders(tx, runNo, keyNos, everything)
  const waiting = await loadWaiting(tx, runNo, new Set(keyNos))
  for (const keyNo of keyNos) {
    const { clean, mixed } = await mergeOverlap(tx, runNo, {
      headers: headers.get(keyNo) ?? [],
      waiting: waiting.get(keyNo),
      keyNo,
    })
    const parts = [...clean, ...(mixed.steps.length > 0 ? [summarize(mixed)] : [])]
    if (parts.length > 0) summaries.set(keyNo, parts.reduce(combine))
  }
  return summaries
}

type KeyPoints = { keyNo: number; headers: readonly Header[]; waiting: Series | undefined }

/**
 * A chunk without an uncompacted point in its range can be counted by its header. The others are read and
 * merged with the uncompacted points; the later arrival of a step wins.
 */
async function mergeOverlap(
  tx: Db,
  runNo: number,
  { keyNo, headers, waiting }: KeyPoints,
): Promise<{ clean: Header[]; mixed: Series }> {
  if (!waiting) return { clean: [...headers], mixed: resolve([]) }
  const isMixed = ({ first_step, last_step }: Header) =>
    (waiting.steps[indexOfStep(waiting.steps, first_step)] ?? Number.POSITIVE_INFINITY) <= last_step
  const overlapped = await loadChunks(tx, runNo, keyNo, headers.filter(isMixed))
  return {
    clean: headers.filter(header => !isMixed(header)),
    mixed: resolve([...overlapped, waiting]),
  }
}

export type SeriesRequest = Range & {
  keys: readonly string[]
  /** Maximum points per series. */
  buckets: number
}

export type SeriesPoints = Drawn & { key: string }

/**
 * Series of at most `buckets` points each, in the order of the request; empty for a key without points in the
 * range. Buckets keep the true extremes; values are returned unbucketed when they all fit.
 */
export const readSeries = (
  db: Db,
  runId: string,
  request: SeriesRequest,
  kept = new KeptSeries(0),
): Promise<SeriesPoints[]> =>
  inSnapshot(db, async (tx, generation) => {
    const run = await findMetricRun(tx, runId)
    if (run === null) return request.keys.map(key => ({ key, ...nothing }))
    const { run_no, records } = run
    const { axis, from, to, buckets } = request
    const drawnFrom = [generation, runId, records, axis, from, to, buckets].join(' ')
    const nameOf = (key: string) => `${drawnFrom} ${key}`
    const known = new Map(request.keys.map(key => [key, kept.get(nameOf(key))]))
    const missing = request.keys.filter(key => !known.get(key))
    const numbers = await findKeyNos(tx, missing)
    const stored = await loadStored(tx, run_no, [...numbers.values()], request)
    for (const key of missing) {
      const points = stored(numbers.get(key))
      const drawn = points === null ? nothing : await drawSeries(tx, run_no, points, request)
      kept.keep(nameOf(key), drawn)
      known.set(key, drawn)
    }
    return request.keys.map(key => ({ key, ...(known.get(key) ?? nothing) }))
  })

const nothing: Drawn = { bucketed: false, points: [], nonfinite: [] }

async function loadStored(tx: Db, runNo: number, keyNos: number[], range: Range) {
  if (keyNos.length === 0) return () => null
  const headers = await loadHeaders(tx, runNo, keyNos, range)
  const waiting = await loadWaiting(tx, runNo, new Set(keyNos))
  return (keyNo: number | undefined): KeyPoints | null =>
    keyNo === undefined
      ? null
      : { keyNo, headers: headers.get(keyNo) ?? [], waiting: waiting.get(keyNo) }
}

async function drawSeries(
  tx: Db,
  runNo: number,
  points: KeyPoints,
  request: SeriesRequest,
): Promise<Drawn> {
  const { axis, from, to, buckets: limit } = request
  const { clean, mixed } = await mergeOverlap(tx, runNo, points)
  const isWhole = (header: Header) => {
    const [first, last] = extentOf(axis, header)
    return first >= from && last <= to
  }
  const whole = clean.filter(isWhole)
  const cutOff = clean.filter(header => !isWhole(header))
  const read = [mixed, ...(await loadChunks(tx, runNo, points.keyNo, cutOff))]
  const count =
    whole.reduce((sum, header) => sum + header.count, 0) +
    read.reduce((sum, series) => sum + countIn(series, request), 0)
  if (count <= limit) {
    read.push(...(await loadChunks(tx, runNo, points.keyNo, whole)))
    return drawRaw(resolve(read), request)
  }
  const buckets = createBuckets(axis, edgesFor(whole, read, request))
  for (const series of read) addSeries(buckets, series, from, to)
  const across = whole.filter(header => !addSummary(buckets, header))
  const visit = (series: Series) => addSeries(buckets, series, from, to)
  await eachChunk(tx, runNo, points.keyNo, { headers: across, visit })
  return {
    bucketed: true,
    points: toBucketPoints(buckets),
    nonfinite: toNonfiniteMarks(buckets),
  }
}

function drawRaw(series: Series, { axis, from, to }: Range): Drawn {
  const points = toRawPoints(axis, series, from, to)
  if (axis === 'time') points.sort((a, b) => a[5] - b[5])
  const nonfinite = points.flatMap(([step, , , , last]): [number, number][] =>
    typeof last === 'number' ? [] : [[step, 1]],
  )
  return { bucketed: false, points, nonfinite }
}

const alongOf = (axis: Range['axis'], series: Series) =>
  axis === 'step' ? series.steps : series.ts

function countIn(series: Series, { axis, from, to }: Range): number {
  let count = 0
  for (const x of alongOf(axis, series)) if (x >= from && x <= to) count++
  return count
}

/** Even edges over the points in the range, shifted where that avoids reading a chunk. */
function edgesFor(whole: readonly Header[], read: readonly Series[], request: SeriesRequest) {
  const { axis, buckets } = request
  const stretches = whole.map(header => {
    const [first, last] = extentOf(axis, header)
    return { first, last }
  })
  const extents = [...stretches, ...read.map(series => extentIn(series, request))]
  const least = extents.reduce((least, { first }) => Math.min(least, first), Infinity)
  const greatest = extents.reduce((greatest, { last }) => Math.max(greatest, last), -Infinity)
  const edges = evenEdges(least, greatest, buckets)
  const ascending = stretches.every((s, i) => s.first > (stretches[i - 1]?.last ?? -Infinity))
  return buckets > 1 && ascending ? spareStretches(edges, stretches) : edges
}

/** First and last position of the points of a series that lie in the range. */
function extentIn(series: Series, { axis, from, to }: Range) {
  let first = Infinity
  let last = -Infinity
  for (const x of alongOf(axis, series)) {
    if (x < from || x > to) continue
    if (x < first) first = x
    if (x > last) last = x
  }
  return { first, last }
}
