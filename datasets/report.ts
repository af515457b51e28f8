import type { Readable } from 'node:stream'
import type { Range } from '../platform/http/range.ts'

export const kinds = ['chat', 'preference', 'prompt', 'text'] as const
export type Kind = (typeof kinds)[number]

export type Format = 'jsonl' | 'csv' | 'parquet'

/** `split`: as `splitOf` takes it from the name. `open` may be called several times, also at once. */
export type DatasetFile = {
  name: string
  size: number
  split: string
  open(range?: Range): Promise<Readable>
}

/** `json`: the parsed content of a `tokenizer.json`. */
export type NamedTokenizer = { name: string; json: object }

/** `kind`: null to recognise it by the fields of the first row. */
export type ValidationOptions = { kind: Kind | null; tokenizer: NamedTokenizer | null }

/** `line`: from 1; of a Parquet file the row, from 1. A fault of the file as a whole is at line 1. */
export type LineError = { file: string; line: number; message: string }

/**
 * Where rows are in a file. `every`: rows between two offsets (in bytes) of a file of lines. `starts`: the first row
 * of each row group, from 0. Both have at most `maxOffsets` entries.
 */
export type FileIndex =
  | { format: 'jsonl'; every: number; offsets: number[] }
  | { format: 'csv'; every: number; offsets: number[]; columns: string[]; delimiter: string }
  | { format: 'parquet'; starts: number[] }

/** Rows by their number of characters; a bucket reaches to the one before it, and `below` is not part of it. */
export type Lengths = {
  min: number
  mean: number
  max: number
  buckets: { below: number; rows: number }[]
}

export type SplitFigures = { rows: number; bytes: number }

/**
 * `format` and `kind`: null if nothing could be recognised. `schema`: the types of each field, such as `string` or
 * `null|string`. `duplicates`: rows whose content an earlier
 * row has. `overlap`: different contents that two splits share. Both are exact up to `maxDistinct` different rows and
 * estimated beyond, which `estimated` says. `errors`: the first 1,000 of `error_count`.
 */
export type DatasetReport = {
  format: Format | null
  kind: Kind | null
  rows: number
  bytes: number
  splits: Record<string, SplitFigures>
  schema: Record<string, string>
  lengths: Lengths
  duplicates: number
  overlap: { splits: [string, string]; rows: number }[]
  estimated: boolean
  tokens: Record<string, number>
  errors: LineError[]
  error_count: number
  files: { name: string; rows: number; bytes: number; index: FileIndex }[]
}

/** `bytes` and `of` are sums over all files. */
export type Progress = { bytes: number; of: number; rows: number; errors: number }

/** `row`: from 0, within the file. */
export type Row = { row: number; value: Record<string, unknown> }
