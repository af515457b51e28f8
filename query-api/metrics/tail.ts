import { decodeChunk, type Series } from '../../platform/series/chunk.ts'
import { type JsonNumber, toJsonNumber } from '../../platform/series/json-number.ts'
import { at } from '../../platform/series/varint.ts'
import { type Db, generation, inGeneration, stretchesOf } from './store.ts'

/** A point as streams and exports show it; `ts` is epoch milliseconds. */
export type PointRow = { key: string; step: number; value: JsonNumber; ts: number }

/** Points in order of arrival, and the cursor of a reader who has seen them. */
export type Frame = { last: number; points: PointRow[] }

export type Tail = {
  frames: Frame[]
  /** The cursor after these frames, including skipped reports that lack the requested keys. */
  last: number
  /** Whether the next page can be read at once. */
  more: boolean
}

export type TailRequest = {
  /** The cursor: the number of reports the reader has seen. */
  after: number
  /** Null for all. */
  keys: readonly string[] | null
}

/** Approximate points per read; a single larger report is read whole. */
const pagePoints = 4096
/** Upper bound of a page: the estimate is poor for runs whose reports vary widely in size. */
const maxPagePoints = 16 * pagePoints
/** Maximum points of a frame, except for a single larger report. */
const framePoints = 1024

type Run = { run_no: number; records: number; points: number; generation: number }

/** The number of stored reports of a run: the cursor of a reader who wants only new points. */
export async function readHead(db: Db, runId: string): Promise<number> {
  return (await findRun(db, runId))?.records ?? 0
}

const findRun = (db: Db, runId: string): Promise<Run | undefined> =>
  db
    .selectFrom('metric_run')
    .select(['run_no', 'records', 'points', generation.as('generation')])
    .where('run_id', '=', runId)
    .executeTakeFirst()

/**
 * A page of what a run reported after a cursor. The cursor counts reports in log order, and each stored point
 * keeps the number of its report. So a reader can come back at any time, whether the points are uncompacted,
 * compacted, or rebuilt from the log, and neither misses a point nor sees it twice. A point that was replaced
 * in the meantime appears once, where its replacement arrived.
 *
 * The number of reports is read first and nothing past it is shown: a key that is new after the names were read would
 * be missing, and the cursor would pass it. Uncompacted points are read before chunks, because the compactor moves points only in that direction.
 * After a rebuild in between, everything is read again.
 */
export async function readTail(db: Db, runId: string, request: TailRequest): Promise<Tail> {
  for (;;) {
    const run = await findRun(db, runId)
    if (!run || request.after >= run.records)
      return { frames: [], last: run?.records ?? 0, more: false }
    const read = await inGeneration(db, run.generation, () => readPage(db, run, request))
    if (read !== null) return read.result
  }
}

async function readPage(db: Db, run: Run, { after, keys }: TailRequest): Promise<Tail> {
  const names = await namesOf(db, run.run_no, keys)
  const page =
    (await readWaiting(db, run, after, names)) ?? (await readCompacted(db, run, after, names))
  return {
    frames: toFrames(page.points, names),
    last: page.last,
    more: page.last < run.records,
  }
}

/** Key names by number: all of the run, or the requested ones. */
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

/** A stored point on its way into a frame. */
type Loose = { arrival: number; keyNo: number; step: number; value: number; ts: number }

type Page = { points: Loose[]; last: number }

/** Null if the reports after the cursor were already compacted. */
async function readWaiting(db: Db, run: Run, after: number, names: Names): Promise<Page | null> {
  const blocks = await db
    .selectFrom('metric_block')
    .select(['first_record', 'records', 'd'])
    .where('run_no', '=', run.run_no)
    .where('first_record', '<=', after + pagePoints)
    .where('first_record', '<', run.records)
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

/** The reports after the cursor, collected from the chunks that hold their points. */
async function readCompacted(db: Db, run: Run, after: number, names: Names): Promise<Page> {
  const oldest = await db
    .selectFrom('metric_block')
    .select(eb => eb.fn.min('first_record').as('first'))
    .where('run_no', '=', run.run_no)
    .executeTakeFirst()
  const reports = Math.max(1, Math.floor((pagePoints * run.records) / run.points))
  const last = Math.min(oldest?.first ?? run.records, run.records, after + reports)
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

/** Adds the points of a stretch with arrival >= `after` and < `last`. */
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

/** Sorts by arrival; cuts a page that is far too long between two reports. */
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
