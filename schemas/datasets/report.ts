import { type Static, Type } from 'typebox'
import { byName, nullable, oneOf } from '../shared.ts'

export const datasetFormats = ['jsonl', 'csv', 'parquet'] as const
export const datasetKinds = ['chat', 'preference', 'prompt', 'text'] as const
export type DatasetKind = (typeof datasetKinds)[number]

/** How many errors of a version are kept, the first ones; and the length of their messages, in characters. */
export const maxErrors = 1000
export const maxErrorMessage = 200
/** Entries of the indexes of all files of a version together. */
export const maxIndexEntries = 10_000

const count = () => Type.Integer({ minimum: 0 })

/** `line` counts from 1, the rows of Parquet as well; null: the file as a whole. */
export const datasetError = Type.Object({
  file: Type.String(),
  line: nullable(Type.Integer({ minimum: 1 })),
  message: Type.String(),
})
export type DatasetError = Static<typeof datasetError>

/** What the validation of a version found out. */
export const datasetReport = Type.Object({
  /** Null if no file could be recognised. */
  format: nullable(oneOf(...datasetFormats)),
  kind: nullable(oneOf(...datasetKinds)),
  rows: count(),
  bytes: count(),
  splits: byName(Type.Object({ rows: count(), bytes: count() })),
  /** The type of each field. */
  schema: byName(Type.String()),
  /** Rows by their length in characters: up to and including `up_to`, and longer than in the entry before; null: all longer ones. */
  lengths: Type.Array(Type.Object({ up_to: nullable(count()), rows: count() })),
  /** Rows that repeat an earlier one of their split. */
  duplicates: count(),
  /** Rows of one split that are in the other as well. */
  overlap: Type.Array(Type.Object({ splits: Type.Array(Type.String()), rows: count() })),
  /** By the name of the tokenizer. */
  tokens: byName(count()),
  /** The first ones. */
  errors: Type.Array(datasetError),
  error_count: count(),
  files: Type.Array(
    Type.Object({
      name: Type.String(),
      split: Type.String(),
      rows: count(),
      bytes: count(),
      /** Where rows begin: the byte of every `rows_per_entry`th row, or for Parquet the first row of each row group. */
      index: Type.Array(count()),
      rows_per_entry: nullable(Type.Integer({ minimum: 1 })),
    }),
  ),
})
export type DatasetReport = Static<typeof datasetReport>
