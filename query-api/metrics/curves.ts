import { type SqlBool, sql } from 'kysely'
import {
  type Cells,
  decodeCells,
  decodeExtremes,
  type Extremes,
} from '../../platform/series/cells.ts'
import { chunkPoints, decodeChunk, emptySeries, type Series } from '../../platform/series/chunk.ts'
import { resolve } from '../../platform/series/merge.ts'
import type { Axis, CurvesAsked, CurvesOfKey } from '../rules/curves.ts'
import {
  type Along,
  addCells,
  addPoints,
  type Curve,
  emptyCurve,
  type Grid,
  gridOfWidth,
  gridOver,
  reachOf,
} from '../rules/grid.ts'
import { type Db, findKeyNos, inSnapshot, stretchesOf } from './store.ts'

/** The curves of several runs, key by key, on buckets that the runs share. */
export const readCurves = (db: Db, asked: CurvesAsked): Promise<CurvesOfKey[]> =>
  inSnapshot(db, async tx => {
    const runs = await findRuns(tx, asked)
    const keyNos = await findKeyNos(tx, asked.keys)
    const waiting = await loadWaiting(tx, runs, new Set(keyNos.values()))
    const all: CurvesOfKey[] = []
    for (const key of asked.keys) {
      const keyNo = keyNos.get(key)
      const curves =
        keyNo === undefined
          ? { grid: null, curves: [] }
          : await readKey(tx, { keyNo, runs, waiting, asked })
      all.push({ key, ...curves })
    }
    return all
  })

/** How many reports each of these runs has made; runs without any are missing. */
export async function countReports(
  db: Db,
  runIds: readonly string[],
): Promise<Map<string, number>> {
  const rows = await db
    .selectFrom('metric_run')
    .select(['run_id', 'records'])
    .where(sql<SqlBool>`run_id = any(${runIds})`)
    .execute()
  return new Map(rows.map(row => [row.run_id, row.records]))
}

/** `index`: its place in the request. */
type Run = { index: number; runNo: number; along: Along; waitingBlocks: number }

async function findRuns(tx: Db, { runs, axis }: CurvesAsked): Promise<Run[]> {
  const rows = await tx
    .selectFrom('metric_run')
    .select(['run_id', 'run_no', 'waiting_blocks'])
    .where(sql<SqlBool>`run_id = any(${runs.map(run => run.runId)})`)
    .execute()
  const byId = new Map(rows.map(row => [row.run_id, row]))
  return runs.flatMap(({ runId, startMs }, index) => {
    const row = byId.get(runId)
    const along = alongOf(axis, startMs)
    return row ? [{ index, runNo: row.run_no, along, waitingBlocks: row.waiting_blocks }] : []
  })
}

const alongOf = (axis: Axis, startMs: number): Along =>
  axis === 'step'
    ? { column: 'steps', origin: 0 }
    : { column: 'ts', origin: axis === 'relative' ? startMs : 0 }

/** Uncompacted points, resolved, by `runNo` and then by key. */
type Waiting = ReadonlyMap<number, ReadonlyMap<number, Series>>

/** Runs whose blocks are read at once; each may have 65,536 points in them. */
const runsAtOnce = 8

async function loadWaiting(
  tx: Db,
  runs: readonly Run[],
  keyNos: ReadonlySet<number>,
): Promise<Waiting> {
  const runNos = runs.filter(run => run.waitingBlocks > 0).map(run => run.runNo)
  const found = new Map<number, Map<number, Series>>()
  for (let from = 0; keyNos.size > 0 && from < runNos.length; from += runsAtOnce) {
    const rows = await tx
      .selectFrom('metric_block')
      .select(['run_no', 'd'])
      .where(sql<SqlBool>`run_no = any(${runNos.slice(from, from + runsAtOnce)})`)
      .orderBy('run_no')
      .orderBy('first_record')
      .execute()
    for (const [runNo, blocks] of Map.groupBy(rows, row => row.run_no))
      found.set(
        runNo,
        pointsByKey(
          blocks.map(row => row.d),
          keyNos,
        ),
      )
  }
  return found
}

function pointsByKey(blocks: readonly Buffer[], keyNos: ReadonlySet<number>): Map<number, Series> {
  const stretches = blocks.flatMap(block => [...stretchesOf(block)])
  const wanted = stretches.filter(([keyNo]) => keyNos.has(keyNo))
  const byKey = Map.groupBy(wanted, ([keyNo]) => keyNo)
  return new Map([...byKey].map(([keyNo, of]) => [keyNo, resolve(of.map(([, series]) => series))]))
}

type KeyAsked = { keyNo: number; runs: readonly Run[]; waiting: Waiting; asked: CurvesAsked }

type Chunk = {
  run_no: number
  first_step: number
  last_step: number
  first_ts: number
  max_ts: number
  cells: Cells | null
  extremes: Extremes | null
}

async function readKey(
  tx: Db,
  { keyNo, runs, waiting, asked }: KeyAsked,
): Promise<Omit<CurvesOfKey, 'key'>> {
  const chunks = await loadHeads(tx, keyNo, runs, asked)
  const parts = runs.map(run => ({
    run,
    chunks: chunks.get(run.runNo) ?? [],
    waiting: waiting.get(run.runNo)?.get(keyNo),
  }))
  const grid = gridOf(parts, asked)
  if (grid === null) return { grid, curves: [] }
  const curves: (Curve | null)[] = asked.runs.map(() => null)
  const toDecode: Decoding[] = []
  for (const part of parts) {
    const curve = emptyCurve(grid)
    toDecode.push(...(await addStored(tx, { keyNo, grid, part, curve })))
    curves[part.run.index] = curve
  }
  await decodeInto(tx, keyNo, grid, toDecode)
  return { grid, curves: curves.map(curve => (curve && hasPoints(curve) ? curve : null)) }
}

/** A chunk whose points must be read, and the curve that they belong to. */
type Decoding = { chunk: Chunk; along: Along; curve: Curve }

/** Adds cells, waiting points, and the chunks that these overlap; returns the other chunks, to be decoded. */
async function addStored(
  tx: Db,
  { keyNo, grid, part, curve }: { keyNo: number; grid: Grid; part: Part; curve: Curve },
): Promise<Decoding[]> {
  const { waiting } = part
  const { along } = part.run
  const near = part.chunks.filter(chunk => isOn(grid, chunk, along))
  const mixed = new Set(waiting ? near.filter(chunk => overlaps(waiting, chunk)) : [])
  if (waiting) {
    const stored = await loadPoints(tx, keyNo, [...mixed])
    addPoints(curve, grid, resolve([...stored, waiting]), along)
  }
  return near.flatMap(chunk => {
    if (mixed.has(chunk)) return []
    const cells = cellsOf(chunk, grid, along)
    if (!cells) return { chunk, along, curve }
    addCells(curve, grid, cells, along)
    return []
  })
}

async function decodeInto(tx: Db, keyNo: number, grid: Grid, all: readonly Decoding[]) {
  for (let from = 0; from < all.length; from += chunksAtOnce) {
    const batch = all.slice(from, from + chunksAtOnce)
    const byId = new Map(batch.map(one => [`${one.chunk.run_no} ${one.chunk.first_step}`, one]))
    const chunks = batch.map(({ chunk }) => chunk)
    await eachChunk(tx, keyNo, chunks, (id, series) => {
      const one = byId.get(id)
      if (one) addPoints(one.curve, grid, series, one.along)
    })
  }
}

const hasPoints = (curve: Curve) => curve.x.some(x => x > Number.NEGATIVE_INFINITY)

/** The chunks of a key by run, without their points. */
async function loadHeads(tx: Db, keyNo: number, runs: readonly Run[], asked: CurvesAsked) {
  const { from, to, axis, withExtremes } = asked
  const extremes = withExtremes ? sql<Buffer | null>`cell_extremes` : sql<null>`null`
  const rows = await tx
    .selectFrom('metric_chunk')
    .select(['run_no', 'first_step', 'last_step', 'first_ts', 'max_ts', 'cells'])
    .select(extremes.as('extremes'))
    .where(sql<SqlBool>`run_no = any(${runs.map(run => run.runNo)})`)
    .where('key_no', '=', keyNo)
    // Buckets may begin before a range and end after it.
    .$if(axis === 'step', chunks =>
      chunks.where(
        sql<SqlBool>`last_step >= ${from - marginOf(asked)}::float8 and first_step <= ${to + marginOf(asked)}::float8`,
      ),
    )
    .execute()
  const chunks = rows.map(({ cells, extremes: of, ...row }) => ({
    ...row,
    cells: cells && decodeCells(cells),
    extremes: of && decodeExtremes(of),
  }))
  return Map.groupBy<number, Chunk>(chunks, chunk => chunk.run_no)
}

/** A bucket is no wider than this, where the range has two ends. */
const marginOf = ({ from, to, buckets }: CurvesAsked) =>
  Number.isFinite(to - from) ? (8 * (to - from + 1)) / buckets : Number.POSITIVE_INFINITY

type Part = { run: Run; chunks: readonly Chunk[]; waiting: Series | undefined }

/** Null if no point is in the range. */
function gridOf(parts: readonly Part[], { from, to, buckets }: CurvesAsked): Grid | null {
  let least = Number.POSITIVE_INFINITY
  let greatest = Number.NEGATIVE_INFINITY
  const reach = (first: number, last: number) => {
    if (last < from || first > to) return
    least = Math.min(least, Math.max(first, from))
    greatest = Math.max(greatest, Math.min(last, to))
  }
  for (const { run, chunks, waiting } of parts) {
    for (const chunk of chunks) reach(...extentOf(chunk, run.along))
    for (const position of waiting?.[run.along.column] ?? [])
      reach(position - run.along.origin, position - run.along.origin)
  }
  if (greatest < least) return null
  const grid = gridOver(Math.floor(least), Math.ceil(greatest), buckets)
  const cells = widestCells(parts)
  const isNearly = cells > grid.width && cells <= grid.width * coarsest
  return isNearly ? gridOfWidth(Math.floor(least), Math.ceil(greatest), powerOfTwo(cells)) : grid
}

/** Buckets become this many times as wide, if that avoids decoding the chunks. */
const coarsest = 2

const powerOfTwo = (least: number) => 2 ** Math.ceil(Math.log2(least))

const widestCells = (parts: readonly Part[]) =>
  parts.reduce(
    (most, { run, chunks }) =>
      chunks.reduce((widest, chunk) => Math.max(widest, cellWidth(chunk, run.along)), most),
    0,
  )

/** Along time, the average. */
function cellWidth({ cells, first_ts, max_ts }: Chunk, { column }: Along): number {
  if (cells === null) return 0
  return column === 'steps' ? cells.width : (max_ts - first_ts) / cells.counts.length
}

const extentOf = (chunk: Chunk, { column, origin }: Along): [number, number] =>
  column === 'steps'
    ? [chunk.first_step, chunk.last_step]
    : [chunk.first_ts - origin, chunk.max_ts - origin]

function isOn(grid: Grid, chunk: Chunk, along: Along): boolean {
  const { from, to } = reachOf(grid)
  const [first, last] = extentOf(chunk, along)
  return last >= from && first <= to
}

const overlaps = ({ steps }: Series, { first_step, last_step }: Chunk) =>
  steps.some(step => step >= first_step && step <= last_step)

/** Null if the chunk has no cells, or if they are wider than the buckets. */
function cellsOf(
  chunk: Chunk,
  grid: Grid,
  along: Along,
): { cells: Cells; extremes: Extremes | null } | null {
  const { cells, extremes } = chunk
  return cells !== null && cellWidth(chunk, along) <= grid.width ? { cells, extremes } : null
}

/** So few that decoding them holds up no other request. */
const chunksAtOnce = 64

// Shared by all calls: a chunk is decoded and used without an await in between.
const scratch = emptySeries(2 * chunkPoints)

async function eachChunk(
  tx: Db,
  keyNo: number,
  chunks: readonly Chunk[],
  visit: (id: string, series: Series) => void,
): Promise<void> {
  for (const { id, d } of await loadBytes(tx, keyNo, chunks)) visit(id, decodeChunk(d, scratch))
}

async function loadPoints(tx: Db, keyNo: number, chunks: readonly Chunk[]): Promise<Series[]> {
  return (await loadBytes(tx, keyNo, chunks)).map(({ d }) => decodeChunk(d))
}

async function loadBytes(tx: Db, keyNo: number, chunks: readonly Chunk[]) {
  if (chunks.length === 0) return []
  const { rows } = await sql<{ id: string; d: Buffer }>`
    select c.run_no || ' ' || c.first_step as id, c.d
      from unnest(${chunks.map(chunk => chunk.run_no)}::int4[], ${chunks.map(chunk => chunk.first_step)}::int8[])
           g (run_no, first_step)
      join metric_chunk c on c.run_no = g.run_no and c.key_no = ${keyNo} and c.first_step = g.first_step`.execute(
    tx,
  )
  if (rows.length !== chunks.length) throw new Error('a chunk is gone within a snapshot')
  return rows
}
