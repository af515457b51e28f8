import { type Kysely, sql } from 'kysely'
import { decodeLines, type Segment } from '../../platform/lines/line-block.ts'
import type { LogTables } from '../../projector/logs/table.ts'
import type { LogLine } from '../../schemas/logs.ts'

export type LogState = {
  /** The number of the newest line, or 0. */
  last: number
  bytes: number
  /** The state in which the run ended, once the log is complete. */
  eof: string | null
}

export async function readLogState(db: Kysely<LogTables>, runId: string): Promise<LogState> {
  const row = await db
    .selectFrom('log_runs')
    .select(['next_seq', 'bytes', 'eof_state'])
    .where('run_id', '=', runId)
    .executeTakeFirst()
  return row
    ? { last: row.next_seq - 1, bytes: row.bytes, eof: row.eof_state }
    : { last: 0, bytes: 0, eof: null }
}

/** Lines as stored; `first` and `last` are line numbers. */
export type Chunk = { first: number; last: number; segments: Segment[] }

/** Up to `rows` stored rows with lines above `after`, in order. */
export async function readChunks(
  db: Kysely<LogTables>,
  runId: string,
  { after, rows }: { after: number; rows: number },
): Promise<Chunk[]> {
  const found = await db
    .selectFrom('log_chunks')
    .select(['first_seq', 'body'])
    .where('run_id', '=', runId)
    .where(
      'first_seq',
      '>=',
      sql<number>`coalesce((select max(first_seq) from log_chunks where run_id = ${runId} and first_seq <= ${after + 1}), 0)`,
    )
    .orderBy('first_seq')
    .limit(rows)
    .execute()
  return found.map(toChunk).filter(chunk => chunk.last > after)
}

/** Up to `rows` stored rows with lines below `before`, newest first. */
export async function readChunksBefore(
  db: Kysely<LogTables>,
  runId: string,
  { before, rows }: { before: number; rows: number },
): Promise<Chunk[]> {
  const found = await db
    .selectFrom('log_chunks')
    .select(['first_seq', 'body'])
    .where('run_id', '=', runId)
    .where('first_seq', '<', before)
    .orderBy('first_seq', 'desc')
    .limit(rows)
    .execute()
  return found.map(toChunk)
}

function toChunk({ first_seq, body }: { first_seq: number; body: Buffer }): Chunk {
  const segments = decodeLines(body)
  const lines = segments.reduce((sum, segment) => sum + segment.lines.length, 0)
  return { first: first_seq, last: first_seq + lines - 1, segments }
}

/** The lines of a chunk above `after`. */
export function* linesOf(chunk: Chunk, after = 0): Generator<LogLine> {
  let seq = chunk.first
  for (const { lines, ts, attempt, node, rank, stream } of chunk.segments)
    for (const text of lines) {
      if (seq > after) yield { seq, ts, attempt, node, rank, stream, text }
      seq++
    }
}

export type LineFilter = {
  grep?: string
  node?: string
  rank?: number
  attempt?: number
  stream?: string
}

export const matches = (line: LogLine, filter: LineFilter): boolean =>
  isFrom(line, filter) && (filter.grep === undefined || line.text.includes(filter.grep))

const isFrom = (line: LogLine, filter: LineFilter): boolean =>
  (filter.node === undefined || line.node === filter.node) &&
  (filter.rank === undefined || line.rank === filter.rank) &&
  (filter.attempt === undefined || line.attempt === filter.attempt) &&
  (filter.stream === undefined || line.stream === filter.stream)

/** A search stops after this many stored rows (about 128 KiB of text each) and returns what it found. */
const maxScannedRows = 512
const rowsAtOnce = 8

/** All lines above `after`, in order. */
export async function* linesAfter(
  db: Kysely<LogTables>,
  runId: string,
  after: number,
  maxRows = Number.POSITIVE_INFINITY,
): AsyncGenerator<LogLine> {
  let from = after
  for (let rows = 0; rows < maxRows; rows += rowsAtOnce) {
    const chunks = await readChunks(db, runId, { after: from, rows: rowsAtOnce })
    if (chunks.length === 0) return
    for (const chunk of chunks) yield* linesOf(chunk, from)
    from = chunks.at(-1)?.last ?? from
  }
}

/** The lines below `before`, newest first. */
async function* linesBefore(
  db: Kysely<LogTables>,
  runId: string,
  before: number,
): AsyncGenerator<LogLine> {
  let from = before
  for (let rows = 0; rows < maxScannedRows; rows += rowsAtOnce) {
    const chunks = await readChunksBefore(db, runId, { before: from, rows: rowsAtOnce })
    if (chunks.length === 0) return
    for (const chunk of chunks) yield* [...linesOf(chunk)].filter(line => line.seq < from).reverse()
    from = chunks.at(-1)?.first ?? from
  }
}

export type Search = {
  lines: LogLine[]
  /** The last line searched: the next search continues there. */
  scannedTo: number
}

export type SearchOptions = {
  from: number
  /** Most lines, those around matches included. */
  limit: number
  filter: LineFilter
  /** Lines of the same node, rank, attempt and stream to return before and after each that has the text. */
  context?: number
}

/** At most `limit` lines above `from`, in order. */
export const searchForward = (
  db: Kysely<LogTables>,
  runId: string,
  options: SearchOptions,
): Promise<Search> => takeMatches(linesAfter(db, runId, options.from, maxScannedRows), options)

/** The last `limit` lines below `from`, in order. */
export async function searchBackward(
  db: Kysely<LogTables>,
  runId: string,
  options: SearchOptions,
): Promise<Search> {
  const { lines, scannedTo } = await takeMatches(linesBefore(db, runId, options.from), options)
  return { lines: lines.reverse(), scannedTo }
}

async function takeMatches(
  all: AsyncGenerator<LogLine>,
  { from, limit, filter, context = 0 }: SearchOptions,
): Promise<Search> {
  const lines: LogLine[] = []
  const around = surroundings(filter, context)
  let scannedTo = from
  for await (const line of all) {
    scannedTo = line.seq
    lines.push(...around(line))
    if (lines.length >= limit) break
  }
  if (lines.length <= limit) return { lines, scannedTo }
  // The next search finds what is cut off.
  const kept = lines.slice(0, limit)
  return { lines: kept, scannedTo: kept.at(-1)?.seq ?? from }
}

/** For each line in turn: what is to be returned with it, which is nothing, or it and the lines before it. */
function surroundings(filter: LineFilter, context: number): (line: LogLine) => LogLine[] {
  let earlier: LogLine[] = []
  let toFollow = 0
  return line => {
    if (matches(line, filter)) {
      const found = [...earlier, line]
      earlier = []
      toFollow = context
      return found
    }
    if (context === 0 || !isFrom(line, filter)) return []
    toFollow--
    if (toFollow >= 0) return [line]
    earlier = [...earlier, line].slice(-context)
    return []
  }
}
