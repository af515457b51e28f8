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

export function toChunk({ first_seq, body }: { first_seq: number; body: Buffer }): Chunk {
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

const rowsAtOnce = 8

/** All lines above `after`, in order. */
export async function* linesAfter(
  db: Kysely<LogTables>,
  runId: string,
  after: number,
): AsyncGenerator<LogLine> {
  let from = after
  while (true) {
    const chunks = await readChunks(db, runId, { after: from, rows: rowsAtOnce })
    if (chunks.length === 0) return
    for (const chunk of chunks) yield* linesOf(chunk, from)
    from = chunks.at(-1)?.last ?? from
  }
}
