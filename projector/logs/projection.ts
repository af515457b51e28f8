import type { PoolClient } from 'pg'
import { decodeFact } from '../../events/fact.ts'
import { decodeLines, encodeLines, type Segment } from '../../platform/lines/line-block.ts'
import type { ReadRecord } from '../../platform/log/event-log.ts'
import { forgetIn, recordProjection } from '../forgetting.ts'
import type { TopicProjection } from '../projection.ts'
import { logsCarryOver } from './carry.ts'
import { absorb, absorbParked, emptyLog, type RunLog } from './run-log.ts'

/** A row of this size is full (bytes as stored). */
const fullRowBytes = 8 * 1024
/** Maximum characters of one row, which bounds the unpacking of one read. */
const maxRowText = 128 * 1024

/** Log lines of runs, numbered in log order; each record takes effect once. */
export const logsProjection = (topic: string): TopicProjection =>
  recordProjection({
    name: 'logs',
    topic,
    carryOver: logsCarryOver,
    apply: (tx, records) => addRecords(tx, records, absorb),
    applyParked: (tx, records) => addRecords(tx, records, absorbParked),
    forget: forgetIn('log_chunks', 'log_sources', 'log_runs'),
  })

async function addRecords(
  tx: PoolClient,
  records: readonly ReadRecord[],
  take: typeof absorb,
): Promise<void> {
  const begins = new Map(records.toReversed().map(({ key, offset }) => [key, offset]))
  const logs = await loadLogs(tx, begins)
  for (const { key, value } of records) {
    const log = logs.get(key)
    if (log) take(log, decodeFact(value))
  }
  for (const [runId, log] of logs) await saveLog(tx, runId, log)
}

/** The last row of a run's lines, if it is not full. */
type Tail = { first_seq: number; bytes: number } | null
/** `first_offset`: of the run's first record; a parked one may be earlier than the others. */
type LoadedLog = RunLog & { first_offset: bigint; first_added: number; tail: Tail }

/** `begins`: the offset of the first new record of each run. */
async function loadLogs(
  tx: PoolClient,
  begins: ReadonlyMap<string, bigint>,
): Promise<Map<string, LoadedLog>> {
  const runIds = [...begins.keys()]
  const { rows: runs } = await tx.query({
    name: 'load_log_runs',
    text: 'select * from log_runs where run_id = any($1)',
    values: [runIds],
  })
  const { rows: sources } = await tx.query({
    name: 'load_log_sources',
    text: 'select run_id, source, taken, unfinished from log_sources where run_id = any($1)',
    values: [runIds],
  })
  const logs = new Map<string, LoadedLog>(
    [...begins].map(([runId, first_offset]) => [
      runId,
      { ...emptyLog(), first_offset, first_added: 1, tail: null },
    ]),
  )
  for (const row of runs) {
    const first = BigInt(row.first_offset)
    const begin = begins.get(row.run_id) ?? first
    logs.set(row.run_id, {
      ...emptyLog(),
      next_seq: row.next_seq,
      bytes: row.bytes,
      truncated: row.truncated,
      hour: row.hour,
      hour_bytes: row.hour_bytes,
      last_ms: row.last_ms,
      eof: eofOf(row),
      first_offset: begin < first ? begin : first,
      first_added: row.next_seq,
      tail: row.tail_seq === null ? null : { first_seq: row.tail_seq, bytes: row.tail_bytes },
    })
  }
  for (const { run_id, source, taken, unfinished } of sources)
    logs.get(run_id)?.sources.set(source, { taken, unfinished })
  return logs
}

type EofRow = {
  eof_state: string | null
  eof_at: Date | null
  points_partition: number | null
  points_offset: number | null
}

function eofOf({ eof_state, eof_at, points_partition, points_offset }: EofRow): RunLog['eof'] {
  if (eof_state === null || eof_at === null) return null
  const points =
    points_partition === null || points_offset === null
      ? null
      : { partition: points_partition, offset: points_offset }
  return { state: eof_state, at: eof_at.getTime(), points }
}

async function saveLog(tx: PoolClient, runId: string, log: LoadedLog): Promise<void> {
  const tail = await saveLines(tx, runId, log)
  await tx.query({
    name: 'save_log_run',
    text: `insert into log_runs (run_id, next_seq, bytes, truncated, eof_state, eof_at, tail_seq, tail_bytes, hour, hour_bytes, last_ms, first_offset, points_partition, points_offset)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
           on conflict (run_id) do update set next_seq = $2, bytes = $3, truncated = $4, eof_state = $5, eof_at = $6,
             tail_seq = $7, tail_bytes = $8, hour = $9, hour_bytes = $10, last_ms = $11, first_offset = $12, points_partition = $13, points_offset = $14`,
    values: [
      runId,
      log.next_seq,
      log.bytes,
      log.truncated,
      log.eof?.state ?? null,
      log.eof === null ? null : new Date(log.eof.at),
      tail?.first_seq ?? null,
      tail?.bytes ?? 0,
      log.hour,
      log.hour_bytes,
      log.last_ms,
      log.first_offset,
      log.eof?.points?.partition ?? null,
      log.eof?.points?.offset ?? null,
    ],
  })
  const changed = [...log.changedSources].flatMap(name => {
    const source = log.sources.get(name)
    return source ? [{ name, ...source }] : []
  })
  if (changed.length === 0) return
  await tx.query({
    name: 'save_log_sources',
    text: `insert into log_sources (run_id, source, taken, unfinished)
           select $1, * from unnest($2::text[], $3::bigint[], $4::bytea[])
           on conflict (run_id, source) do update set taken = excluded.taken, unfinished = excluded.unfinished`,
    values: [
      runId,
      changed.map(source => source.name),
      changed.map(source => source.taken),
      changed.map(source => source.unfinished),
    ],
  })
}

/** Adds the lines, filling up the last row first; returns the new last row. */
async function saveLines(tx: PoolClient, runId: string, log: LoadedLog): Promise<Tail> {
  if (log.added.length === 0) return log.tail
  const short = log.tail && log.tail.bytes < fullRowBytes ? log.tail.first_seq : null
  const before = short === null ? [] : await loadSegments(tx, runId, short)
  let first = short ?? log.first_added
  const rows = cutRows([...before, ...log.added]).map(segments => {
    const row = { first_seq: first, body: encodeLines(segments) }
    first += segments.reduce((sum, { lines }) => sum + lines.length, 0)
    return row
  })
  await tx.query({
    name: 'save_log_chunks',
    text: `insert into log_chunks (run_id, first_seq, body)
           select $1, * from unnest($2::bigint[], $3::bytea[])
           on conflict (run_id, first_seq) do update set body = excluded.body`,
    values: [runId, rows.map(row => row.first_seq), rows.map(row => row.body)],
  })
  const last = rows.at(-1)
  return last ? { first_seq: last.first_seq, bytes: last.body.length } : log.tail
}

async function loadSegments(tx: PoolClient, runId: string, first: number): Promise<Segment[]> {
  const { rows } = await tx.query({
    name: 'load_log_chunk',
    text: 'select body from log_chunks where run_id = $1 and first_seq = $2',
    values: [runId, first],
  })
  return rows.flatMap(row => decodeLines(row.body))
}

/** Groups lines into rows of bounded size. */
function cutRows(segments: readonly Segment[]): Segment[][] {
  const rows: Segment[][] = []
  let row: Segment[] = []
  let size = 0
  for (const segment of segments) {
    let from = 0
    segment.lines.forEach((line, index) => {
      if (size > 0 && size + line.length > maxRowText) {
        if (index > from) row.push({ ...segment, lines: segment.lines.slice(from, index) })
        rows.push(row)
        row = []
        size = 0
        from = index
      }
      size += line.length + 1
    })
    row.push({ ...segment, lines: segment.lines.slice(from) })
  }
  rows.push(row)
  return rows
}
