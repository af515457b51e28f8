import { type Kysely, sql } from 'kysely'
import type { LogTables } from '../../projector/logs/table.ts'
import type { LogLine } from '../../schemas/logs.ts'
import type { Matcher } from './match.ts'
import { linesOf, toChunk } from './read.ts'
import { createTurn } from './turn.ts'

export type Search = {
  lines: LogLine[]
  /** The last line searched: the next search continues there. */
  scannedTo: number
}

export type SearchOptions = {
  /** Lines after it are searched, or lines before it in a backward search. */
  from: number
  /** Maximum number of lines, including context. */
  limit: number
  matcher: Matcher
  /** Number of context lines before and after each match, of the same node, rank, attempt and stream. */
  context?: number
  /** Search fewer rows once something was found, to return it sooner. */
  isHasty?: boolean
}

type Db = Kysely<LogTables>
/** `edge`: what `scannedTo` is once all rows before this one were searched. */
type Row = { first_seq: number; body: Buffer; edge: number }

/** At most `limit` lines above `from`, in order; `last` is the newest line of the run. */
export async function searchForward(
  db: Db,
  runId: string,
  { last, ...options }: SearchOptions & { last: number },
): Promise<Search> {
  const { from } = options
  const { lines, scannedTo } = await takeMatches(options, {
    ahead: linesAbove(db, runId, from),
    behind: linesBelow(db, runId, from + 1),
    isAhead: seq => seq > from,
    toFind: line => line.seq - 1,
  })
  return { lines, scannedTo: scannedTo ?? Math.max(last, lines.at(-1)?.seq ?? 0) }
}

/** The last `limit` lines below `from`, in order. */
export async function searchBackward(
  db: Db,
  runId: string,
  options: SearchOptions,
): Promise<Search> {
  const { from } = options
  const { lines, scannedTo } = await takeMatches(options, {
    ahead: linesBelow(db, runId, from),
    behind: linesAbove(db, runId, from - 1),
    isAhead: seq => seq < from,
    toFind: line => line.seq + 1,
  })
  return { lines: lines.reverse(), scannedTo: scannedTo ?? 1 }
}

/** Iterates over stored rows from a position on, and over the lines in each. */
type Walk = { rows: AsyncGenerator<Row>; linesIn: (row: Row) => LogLine[] }

const linesAbove = (db: Db, runId: string, from: number): Walk => ({
  rows: rowsAbove(db, runId, from),
  linesIn: row => [...linesOf(toChunk(row), from)],
})

const linesBelow = (db: Db, runId: string, from: number): Walk => ({
  rows: rowsBelow(db, runId, from),
  linesIn: row => [...linesOf(toChunk(row))].filter(line => line.seq < from).reverse(),
})

/** Few at first, because one row is often enough. */
const rowsAtOnce = { first: 8, later: 64 }

async function* rowsAbove(db: Db, runId: string, from: number): AsyncGenerator<Row> {
  const within = sql<number>`coalesce((select max(first_seq) from log_chunks where run_id = ${runId} and first_seq <= ${from + 1}), 0)`
  let after: number | null = null
  for (let count = rowsAtOnce.first; ; count = rowsAtOnce.later) {
    const rows = await rowsOf(db, runId)
      .where('first_seq', after === null ? '>=' : '>', after ?? within)
      .orderBy('first_seq')
      .limit(count)
      .execute()
    for (const row of rows) yield { ...row, edge: Math.max(from, row.first_seq - 1) }
    if (rows.length < count) return
    after = rows.at(-1)?.first_seq ?? null
  }
}

async function* rowsBelow(db: Db, runId: string, from: number): AsyncGenerator<Row> {
  let before = from
  for (let count = rowsAtOnce.first; ; count = rowsAtOnce.later) {
    const rows = await rowsOf(db, runId)
      .where('first_seq', '<', before)
      .orderBy('first_seq', 'desc')
      .limit(count)
      .execute()
    for (const row of rows) {
      yield { ...row, edge: before }
      before = row.first_seq
    }
    if (rows.length < count) return
  }
}

const rowsOf = (db: Db, runId: string) =>
  db.selectFrom('log_chunks').select(['first_seq', 'body']).where('run_id', '=', runId)

type Direction = {
  /** The rows to search, and the rows that an earlier search has passed, nearest first. */
  ahead: Walk
  behind: Walk
  /** Where a search has to begin to reach this line first. */
  toFind: (line: LogLine) => number
  /** Whether a search beginning there has less to do. */
  isAhead: (seq: number) => boolean
}

/** `scannedTo` is null once there are no further rows. */
async function takeMatches(
  options: SearchOptions,
  direction: Direction,
): Promise<{ lines: LogLine[]; scannedTo: number | null }> {
  const { limit, matcher, context = 0 } = options
  const { rows, linesIn } = direction.ahead
  const lines: LogLine[] = []
  const around = surroundings(options, await stillToFollow(options, direction.behind))
  const turn = createTurn()
  let scanned = 0
  for await (const row of rows) {
    if (scanned++ >= rowsFor(options, lines.length))
      return { lines, scannedTo: nextAfter(row, direction, around.kept()) }
    if (context === 0 && !matcher.mayHold(row.body)) continue
    for (const line of linesIn(row)) {
      lines.push(...around.pass(line))
      // The next search finds the lines cut off here.
      if (lines.length >= limit) return cutAt(lines, limit, line.seq)
      await turn.pass()
    }
  }
  return { lines, scannedTo: null }
}

/** Maximum read behind a search, in rows and in characters of their lines. */
const mostBehind = { rows: 64, length: 512 * 1024 }

/** How many lines are context of a match that an earlier search may have found. */
async function stillToFollow(
  { matcher, context = 0 }: SearchOptions,
  behind: Walk,
): Promise<number> {
  if (context === 0) return 0
  const turn = createTurn()
  let toFollow = context
  for await (const line of nearest(behind)) {
    if (matcher.isWanted(line)) return toFollow
    if (matcher.isFrom(line) && --toFollow === 0) return 0
    await turn.pass()
  }
  return 0
}

async function* nearest({ rows, linesIn }: Walk): AsyncGenerator<LogLine> {
  let [length, read] = [0, 0]
  for await (const row of rows) {
    for (const line of linesIn(row)) {
      length += line.text.length
      if (length > mostBehind.length) return
      yield line
    }
    if (++read === mostBehind.rows) return
  }
}

/** The next search starts early enough to include the context of its first match. */
function nextAfter({ edge }: Row, { toFind, isAhead }: Direction, kept: LogLine | null): number {
  return kept && isAhead(toFind(kept)) ? toFind(kept) : edge
}

function rowsFor({ matcher, context = 0, isHasty = false }: SearchOptions, found: number): number {
  return isHasty && context === 0 && found > 0 ? matcher.maxRows / 8 : matcher.maxRows
}

function cutAt(lines: LogLine[], limit: number, at: number) {
  if (lines.length <= limit) return { lines, scannedTo: at }
  const kept = lines.slice(0, limit)
  return { lines: kept, scannedTo: kept.at(-1)?.seq ?? at }
}

type Surroundings = {
  /** The output for the next line: nothing, or the line with preceding context. */
  pass(line: LogLine): LogLine[]
  /** The first line of context if the next line were a match. */
  kept(): LogLine | null
}

function surroundings({ matcher, context = 0 }: SearchOptions, following: number): Surroundings {
  const { isWanted, isFrom } = matcher
  let earlier: LogLine[] = []
  let toFollow = following
  return {
    pass(line) {
      if (isWanted(line)) {
        const found = [...earlier, line]
        earlier = []
        toFollow = context
        return found
      }
      if (context === 0 || !isFrom(line)) return []
      toFollow--
      if (toFollow >= 0) return [line]
      earlier = [...earlier, line].slice(-context)
      return []
    },
    kept: () => earlier[0] ?? null,
  }
}
