import { decodeChunk, type Series } from '../../platform/series/chunk.ts'
import { type JsonNumber, toJsonNumber } from '../../platform/series/json-number.ts'
import { at } from '../../platform/series/varint.ts'
import { type Db, stretchesOf } from './store.ts'

/** A point as streams and exports show it; `ts` is epoch milliseconds. */
export type PointRow = { key: string; step: number; value: JsonNumber; ts: number }

/** Points in the order in which they arrived, and the cursor of a reader who has seen them. */
export type Frame = { last: number; points: PointRow[] }

export type Tail = {
  frames: Frame[]
  /** The cursor after these frames, whether or not the keys asked for were in what they skip. */
  last: number
  /** There is more right now. */
  more: boolean
}

export type TailRequest = {
  /** The cursor: how many reports of the run the reader has seen. 0 for none. */
  after: number
  /** Null for all. */
  keys: readonly string[] | null
}

/** About this many points are read at once; a single report with more comes whole. */
const pagePoints = 4096
/** A page is never much longer: runs whose reports differ much in size make it hard to foresee. */
const maxPagePoints = 16 * pagePoints
/** Points of one frame, but for a single report with more. */
const framePoints = 1024

type Run = { run_no: number; records: number; points: number }

/** How many reports of a run have been taken: the cursor of a reader who wants only what comes next. */
export async function readHead(db: Db, runId: string): Promise<number> {
  return (await findRun(db, runId))?.records ?? 0
}

const findRun = (db: Db, runId: string): Promise<Run | undefined> =>
  db
    .selectFrom('metric_run')
    .select(['run_no', 'records', 'points'])
    .where('run_id', '=', runId)
    .executeTakeFirst()

/**
 * What a run reported after a cursor, a page of it. The cursor counts reports in log order, and each stored
 * point keeps the number of the report that brought it; so a reader may come back after any time, whether
 * the points still wait, were compacted, or were rebuilt from the log, and miss none and see none twice. A
 * point that was replaced meanwhile shows once, where its replacement arrived.
 *
 * What waits is read before the chunks: the compactor moves points only from there to here.
 */
export async function readTail(db: Db, runId: string, request: TailRequest): Promise<Tail> {
  const run = await findRun(db, runId)
  if (!run || request.after >= run.records)
    return { frames: [], last: run?.records ?? 0, more: false }
  const names = await namesOf(db, run.run_no, request.keys)
  const page =
    (await readWaiting(db, run, request.after, names)) ??
    (await readCompacted(db, run, request.after, names))
  return {
    frames: toFrames(page.points, names),
    last: page.last,
    more: page.last < run.records,
  }
}

/** By number; those of the run, or those of them that were asked for. */
type Names = ReadonlyMap<number, string>

async function namesOf(db: Db, runNo: number, keys: readonly string[] | null): Promise<Names> {
  let query = db
    .selectFrom('metric_summary as s')
    .innerJoin('metric_name as n', 'n.key_no', 's.key_no')
    .select(['n.key_no', 'n.key'])
    .where('s.run_no', '=', runNo)
  if (keys !== null) query = query.where('n.key', 'in', keys.length > 0 ? keys : [''])
  return new Map((await query.execute()).map(row => [row.key_no, row.key]))
}

/** One stored point on its way into a frame. */
type Loose = { arrival: number; keyNo: number; step: number; value: number; ts: number }

type Page = { points: Loose[]; last: number }

/** Null where what follows the cursor no longer waits. */
async function readWaiting(db: Db, run: Run, after: number, names: Names): Promise<Page | null> {
  const blocks = await db
    .selectFrom('metric_block')
    .select(['first_record', 'records', 'd'])
    .where('run_no', '=', run.run_no)
    .where('first_record', '<=', after + pagePoints)
    .where(eb => eb(eb('first_record', '+', eb.ref('records')), '>', after))
    .orderBy('first_record')
    .limit(64)
    .execute()
  if ((blocks[0]?.first_record ?? Number.POSITIVE_INFINITY) > after) return null
  const points: Loose[] = []
  let last = after
  for (const { first_record, records, d } of blocks) {
    if (points.length >= pagePoints) break
    last = first_record + records
    for (const [keyNo, stretch] of stretchesOf(d))
      if (names.has(keyNo)) loosen(points, keyNo, stretch, { after, last })
  }
  return inOrder(points, last)
}

/** The reports that follow the cursor, gathered from the chunks into which their points were sorted. */
async function readCompacted(db: Db, run: Run, after: number, names: Names): Promise<Page> {
  const oldest = await db
    .selectFrom('metric_block')
    .select(eb => eb.fn.min('first_record').as('first'))
    .where('run_no', '=', run.run_no)
    .executeTakeFirst()
  const reports = Math.max(1, Math.floor((pagePoints * run.records) / run.points))
  const last = Math.min(oldest?.first ?? run.records, after + reports)
  const chunks = await db
    .selectFrom('metric_chunk')
    .select(['key_no', 'd'])
    .where('run_no', '=', run.run_no)
    .where('key_no', 'in', names.size > 0 ? [...names.keys()] : [0])
    .where('last_arrival', '>=', after)
    .where('first_arrival', '<', last)
    .orderBy('key_no')
    .orderBy('first_step')
    .execute()
  const points: Loose[] = []
  for (const { key_no, d } of chunks) loosen(points, key_no, decodeChunk(d), { after, last })
  return inOrder(points, last)
}

/** Adds the points of a stretch that arrived from `after` on and before `last`. */
function loosen(
  to: Loose[],
  keyNo: number,
  { arrivals, steps, ts, values }: Series,
  { after, last }: { after: number; last: number },
): void {
  for (let i = 0; i < arrivals.length; i++) {
    const arrival = at(arrivals, i)
    if (arrival < after || arrival >= last) continue
    to.push({ arrival, keyNo, step: at(steps, i), value: at(values, i), ts: at(ts, i) })
  }
}

/** In order of arrival; a page that came out far too long is cut between two reports. */
function inOrder(points: Loose[], last: number): Page {
  points.sort((a, b) => a.arrival - b.arrival)
  const lastKept = points[maxPagePoints - 1]
  if (points.length <= maxPagePoints || !lastKept) return { points, last }
  const end = points.findIndex(point => point.arrival > lastKept.arrival)
  if (end < 0) return { points, last }
  return { points: points.slice(0, end), last: lastKept.arrival + 1 }
}

function toFrames(points: readonly Loose[], names: Names): Frame[] {
  const frames: Frame[] = []
  let frame: Frame = { last: 0, points: [] }
  for (const { arrival, keyNo, step, value, ts } of points) {
    if (frame.points.length >= framePoints && arrival >= frame.last) {
      frames.push(frame)
      frame = { last: 0, points: [] }
    }
    frame.points.push({ key: names.get(keyNo) ?? '', step, value: toJsonNumber(value), ts })
    frame.last = arrival + 1
  }
  if (frame.points.length > 0) frames.push(frame)
  return frames
}
