import { type Static, Type } from 'typebox'
import { control } from './runs/runs.ts'
import { closed, nullable } from './shared.ts'

/** Longest accepted line and largest body, in bytes (UTF-8). */
export const maxLineBytes = 64 * 1024
export const maxLogBodyBytes = 1024 * 1024
/** Maximum chunks per call. */
export const maxLogChunks = 10_000

/**
 * The body of `POST /api/ingest/logs` (specification, "Ingest"). A chunk is one or more whole lines. Only the
 * platform sets `eof`. `seq` increases with each call of a `producer` (one process), so that a repeated call
 * is stored once.
 */
export const logsInput = closed({
  run_id: Type.String({ minLength: 1, maxLength: 128 }),
  chunks: Type.Array(Type.String(), { maxItems: maxLogChunks }),
  eof: Type.Optional(Type.Literal(false, { default: false })),
  attempt: Type.Optional(nullable(Type.Integer({ minimum: 1, maximum: 1_000_000 }))),
  node: Type.Optional(nullable(Type.String({ maxLength: 256 }))),
  rank: Type.Optional(nullable(Type.Integer({ minimum: 0, maximum: 1_000_000 }))),
  stream: Type.Optional(nullable(Type.String({ minLength: 1, maxLength: 64 }))),
  seq: Type.Optional(nullable(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER - 1 }))),
  producer: Type.Optional(nullable(Type.String({ maxLength: 128 }))),
})
export type LogsInput = Static<typeof logsInput>

/** `accepted`: number of stored chunks; `truncated`: the run is over its hourly log limit. */
export const logsReply = Type.Object({
  ok: Type.Literal(true),
  accepted: Type.Integer({ minimum: 0 }),
  truncated: Type.Boolean(),
  control,
})

/** A line of a run's log; `seq` counts from 1 without gaps, `ts` is epoch milliseconds. */
export const logLine = Type.Object({
  seq: Type.Integer({ minimum: 1 }),
  ts: Type.Integer(),
  attempt: nullable(Type.Integer()),
  node: nullable(Type.String()),
  rank: nullable(Type.Integer()),
  stream: Type.String(),
  text: Type.String(),
})
export type LogLine = Static<typeof logLine>

/**
 * Whether Forge's own clients or executors printed the line. It reports about the run, so it is never the reason why the
 * run failed.
 */
export const isOfForge = (text: string): boolean => /^(?:forge: |\[forge\] )/.test(text)

const lineFilter = {
  /** Only lines that contain this text. */
  grep: Type.Optional(Type.String({ minLength: 1, maxLength: 1024 })),
  /** Only lines in which this regular expression (RE2) is found. */
  regex: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
  node: Type.Optional(Type.String({ maxLength: 256 })),
  rank: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000 })),
  attempt: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
  stream: Type.Optional(Type.String({ maxLength: 64 })),
}

/** Lines above `after`, or the last lines below `before`; both are `seq`s. */
export const logsQuery = closed({
  after: Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
  before: Type.Optional(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, default: 50 })),
  /** With `grep`: also return this many lines before and after each match; `limit` includes them. */
  context: Type.Optional(Type.Integer({ minimum: 0, maximum: 100 })),
  ...lineFilter,
})

export const downloadQuery = closed(lineFilter)

/** `after`: the id of the last event seen; `tail`: start that many lines before the end. */
export const logStreamQuery = closed({
  after: Type.Optional(Type.String({ maxLength: 64 })),
  tail: Type.Optional(Type.Integer({ minimum: 0, maximum: 10_000 })),
})
