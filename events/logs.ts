import { decodeJson, encodeJson } from './fact.ts'

/** The part of a run that wrote the lines; null if unknown. */
export type Place = { node: string | null; rank: number | null; stream: string }

/** Text that running code sent to `POST /api/ingest/logs`: chunks of one or more whole lines. */
export type ReportedLines = Place & {
  origin: 'report'
  /** Distinguishes processes that each count `seq`; empty if the caller names none. */
  producer: string
  /** Increases with each call of a producer; a call not above the highest accepted one is a repeat. */
  seq: number | null
  chunks: readonly string[]
}

/**
 * A piece of a run's output, unchanged: `bytes` start at `offset` in that stream of that attempt. Pieces are
 * appended to the log in order and may be cut anywhere; after a crash the executor starts again from any earlier
 * offset, and bytes that were already stored are dropped. A piece without bytes marks the end of its stream.
 */
export type PrintedBytes = Place & { origin: 'output'; offset: number; bytes: Buffer }

/** The body of a `logs.appended` fact; the attempt is in the fact itself. */
export type LogsAppended = ReportedLines | PrintedBytes

/**
 * The body of a `logs.eof` fact: a run ended in this state and no more output is expected. Appended to the log after
 * the last output; the first one of a run counts. `points` is where the metrics of the run end on their own
 * topic: a stream of points ends only behind it. Absent in facts recorded before this mark existed.
 */
export type LogsEof = { state: string; points?: { partition: number; offset: number } | null }

/** Bytes are encoded as characters 0 to 255, because output is mostly ASCII but need not be UTF-8. */
export const encodeLogs = (data: LogsAppended): Buffer =>
  encodeJson(data.origin === 'output' ? { ...data, bytes: data.bytes.toString('latin1') } : data)

export function decodeLogs(body: Buffer): LogsAppended {
  const data = decodeJson(body) as ReportedLines | (Place & Stored)
  return data.origin === 'output' ? { ...data, bytes: Buffer.from(data.bytes, 'latin1') } : data
}

type Stored = { origin: 'output'; offset: number; bytes: string }

export const encodeLogsEof = (data: LogsEof): Buffer => encodeJson(data)
export const decodeLogsEof = (body: Buffer): LogsEof => decodeJson(body) as LogsEof
