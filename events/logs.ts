import { decodeJson, encodeJson } from './fact.ts'

/** Which part of a run speaks; null where nobody said. */
export type Place = { node: string | null; rank: number | null; stream: string }

/** Text that running code sent to `POST /api/ingest/logs`: chunks of one or more whole lines. */
export type ReportedLines = Place & {
  origin: 'report'
  /** Tells apart processes that count `seq` on their own; empty where the caller names none. */
  producer: string
  /** Ascends with each call of one producer; a call not above the highest taken is a repeat. */
  seq: number | null
  chunks: readonly string[]
}

/**
 * What the executor read of a run's output, as it was printed: `bytes` begin `offset` bytes into that stream
 * of that attempt. Pieces go onto the log in order and may be cut anywhere; after a crash the shipper begins
 * anew from any earlier offset, and what was taken already is dropped.
 */
export type PrintedBytes = Place & { origin: 'output'; offset: number; bytes: Buffer }

/** The body of a `logs.appended` fact; the attempt stands in the fact itself. */
export type LogsAppended = ReportedLines | PrintedBytes

/**
 * The body of a `logs.eof` fact: the platform expects nothing more of a run, which ended in this state. Goes
 * onto the log after the last output was shipped; of several for one run the first holds.
 */
export type LogsEof = { state: string }

/** Bytes travel as characters 0 to 255, since printed bytes need not be UTF-8 and mostly are ASCII. */
export const encodeLogs = (data: LogsAppended): Buffer =>
  encodeJson(data.origin === 'output' ? { ...data, bytes: data.bytes.toString('latin1') } : data)

export function decodeLogs(body: Buffer): LogsAppended {
  const data = decodeJson(body) as ReportedLines | (Place & Stored)
  return data.origin === 'output' ? { ...data, bytes: Buffer.from(data.bytes, 'latin1') } : data
}

type Stored = { origin: 'output'; offset: number; bytes: string }

export const encodeLogsEof = (data: LogsEof): Buffer => encodeJson(data)
export const decodeLogsEof = (body: Buffer): LogsEof => decodeJson(body) as LogsEof
