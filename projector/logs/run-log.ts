import type { Fact } from '../../events/fact.ts'
import {
  decodeLogs,
  decodeLogsEof,
  type LogsAppended,
  type LogsEof,
  type PrintedBytes,
  type ReportedLines,
} from '../../events/logs.ts'
import type { Labels, Segment } from '../../platform/lines/line-block.ts'
import { chunkLines, cutLines, finishLine } from './lines.ts'

/** Maximum bytes per run and hour; the rest is dropped. */
export const hourLimitBytes = 100 * 1024 * 1024
const hourMs = 3_600_000

export type Source = { taken: number; unfinished: Buffer }

/** The stored state of a run's log, and the lines to add. */
export type RunLog = {
  next_seq: number
  bytes: number
  truncated: boolean
  hour: number
  hour_bytes: number
  last_ms: number
  eof: { state: string; at: number; points: NonNullable<LogsEof['points']> | null } | null
  /** Keyed by origin; see `sourceOf`. */
  sources: Map<string, Source>
  added: Segment[]
  changedSources: Set<string>
}

export const emptyLog = (): RunLog => ({
  next_seq: 1,
  bytes: 0,
  truncated: false,
  hour: 0,
  hour_bytes: 0,
  last_ms: 0,
  eof: null,
  sources: new Map(),
  added: [],
  changedSources: new Set(),
})

/** Applies one fact. Idempotent: a repeated fact adds nothing. Throws for a fact that does not belong to logs. */
export function absorb(log: RunLog, fact: Fact): void {
  if (fact.type === 'logs.appended') absorbLines(log, fact)
  else if (fact.type === 'logs.eof') absorbEof(log, decodeLogsEof(fact.body), fact.received_at_ms)
  else throw new Error(`${fact.type} is not a fact of logs`)
}

/**
 * Applies one parked fact. Later facts of its source make it look like a repeat, so its lines are added regardless;
 * lines that were also sent in another record appear twice.
 */
export function absorbParked(log: RunLog, fact: Fact): void {
  if (fact.type === 'logs.appended') absorbLines(log, fact, allLines)
  else absorb(log, fact)
}

/** `ofRepeat` returns the lines to add for a fact that looks like a repeat. */
function absorbLines(
  log: RunLog,
  fact: Fact,
  ofRepeat: (data: LogsAppended) => string[] = () => [],
): void {
  log.last_ms = Math.max(log.last_ms, fact.received_at_ms)
  const data = decodeLogs(fact.body)
  const labels = { attempt: fact.attempt, node: data.node, rank: data.rank, stream: data.stream }
  const fresh =
    data.origin === 'output' ? takeOutput(log, labels, data) : takeReport(log, labels, data)
  const lines = fresh ?? ofRepeat(data)
  if (lines.length > 0) add(log, labels, { lines, ts: fact.received_at_ms })
}

/** The lines of a single record: for output, the first and the last may be incomplete. */
function allLines(data: LogsAppended): string[] {
  if (data.origin === 'report') return data.chunks.flatMap(chunkLines)
  const { lines, unfinished } = cutLines(data.bytes)
  return [...lines, ...finishLine(unfinished)]
}

/** Null for a repeat. */
function takeReport(log: RunLog, labels: Labels, data: ReportedLines): string[] | null {
  if (data.seq !== null) {
    const name = sourceOf(labels, data.producer)
    const source = log.sources.get(name)
    if (source && data.seq <= source.taken) return null
    log.sources.set(name, { taken: data.seq, unfinished: Buffer.alloc(0) })
    log.changedSources.add(name)
  }
  return data.chunks.flatMap(chunkLines)
}

/** Drops bytes that were already stored, and keeps an unfinished line for later, unless its stream has ended. */
function takeOutput(log: RunLog, labels: Labels, data: PrintedBytes): string[] | null {
  const name = sourceOf(labels, null)
  const source = log.sources.get(name) ?? { taken: 0, unfinished: Buffer.alloc(0) }
  const end = data.offset + data.bytes.length
  if (data.bytes.length === 0 && end === source.taken) return finishSource(log, name, source)
  if (end <= source.taken) return null
  const fresh = data.bytes.subarray(Math.max(0, source.taken - data.offset))
  // After a gap, the kept start of a line does not belong to the bytes that follow.
  const torn = data.offset > source.taken ? finishLine(source.unfinished) : []
  const before = torn.length > 0 ? Buffer.alloc(0) : source.unfinished
  const { lines, unfinished } = cutLines(Buffer.concat([before, fresh]))
  log.sources.set(name, { taken: end, unfinished: Buffer.from(unfinished) })
  log.changedSources.add(name)
  return [...torn, ...lines]
}

/** The unfinished line of a source, which is complete now. */
function finishSource(log: RunLog, name: string, source: Source): string[] {
  const lines = finishLine(source.unfinished)
  if (lines.length === 0) return []
  log.sources.set(name, { ...source, unfinished: Buffer.alloc(0) })
  log.changedSources.add(name)
  return lines
}

function absorbEof(log: RunLog, { state, points = null }: LogsEof, at: number): void {
  if (log.eof) return
  for (const [name, source] of log.sources) {
    const lines = finishSource(log, name, source)
    if (lines.length > 0) add(log, labelsOf(name), { lines, ts: at })
  }
  log.eof = { state, at, points }
}

/** Numbers the lines, up to the limit of the record's hour. */
function add(log: RunLog, labels: Labels, { lines, ts }: { lines: string[]; ts: number }): void {
  const hour = Math.floor(ts / hourMs)
  if (hour !== log.hour) {
    log.hour = hour
    log.hour_bytes = 0
  }
  const kept: string[] = []
  for (const line of lines) {
    if (log.hour_bytes > hourLimitBytes) break
    const bytes = Buffer.byteLength(line) + 1
    log.hour_bytes += bytes
    if (log.hour_bytes > hourLimitBytes) {
      push(log, labels, { lines: kept.splice(0), ts })
      push(log, { ...labels, stream: 'forge' }, { lines: [marker(hour)], ts })
      log.truncated = true
      break
    }
    kept.push(line)
  }
  push(log, labels, { lines: kept, ts })
}

const marker = (hour: number) =>
  `[more than ${hourLimitBytes / 1024 / 1024} MiB within one hour: not kept until ${new Date((hour + 1) * hourMs).toISOString()}]`

function push(log: RunLog, labels: Labels, { lines, ts }: { lines: string[]; ts: number }): void {
  if (lines.length === 0) return
  log.added.push({ ...labels, ts, lines })
  log.next_seq += lines.length
  for (const line of lines) log.bytes += Buffer.byteLength(line) + 1
}

/** `producer` is null for output that the executor read. */
const sourceOf = ({ attempt, node, rank, stream }: Labels, producer: string | null): string =>
  JSON.stringify([attempt, node, rank, stream, producer])

function labelsOf(source: string): Labels {
  const [attempt, node, rank, stream] = JSON.parse(source)
  return { attempt, node, rank, stream }
}
