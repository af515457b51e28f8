import { type Static, Type } from 'typebox'
import { byName, nullable, oneOf } from '../shared.ts'

export const datasetFormats = ['jsonl', 'csv', 'parquet'] as const
export const datasetKinds = ['chat', 'preference', 'prompt', 'text'] as const

const count = () => Type.Integer({ minimum: 0 })

/** `line` counts from 1; of a Parquet file the row, from 1. A fault of the file as a whole is at line 1. */
export const datasetError = Type.Object({
  file: Type.String(),
  line: Type.Integer({ minimum: 1 }),
  message: Type.String(),
})

/** Where rows are in a file; `datasets/report.ts` describes it. */
const fileIndex = Type.Union([
  Type.Object({
    format: Type.Literal('jsonl'),
    every: Type.Integer({ minimum: 1 }),
    offsets: Type.Array(count()),
  }),
  Type.Object({
    format: Type.Literal('csv'),
    every: Type.Integer({ minimum: 1 }),
    offsets: Type.Array(count()),
    columns: Type.Array(Type.String()),
    delimiter: Type.String(),
  }),
  Type.Object({ format: Type.Literal('parquet'), starts: Type.Array(count()) }),
])

const twoNames = Type.Unsafe<[string, string]>({
  ...{ type: 'array', items: { type: 'string' } },
  ...{ minItems: 2, maxItems: 2 },
})

/** What the validation of a version found out. */
export const datasetReport = Type.Object({
  /** Null if the validation could not be completed. */
  format: nullable(oneOf(...datasetFormats)),
  kind: nullable(oneOf(...datasetKinds)),
  rows: count(),
  bytes: count(),
  splits: byName(Type.Object({ rows: count(), bytes: count() })),
  /** The types of each field, such as `string` or `null|string`. */
  schema: byName(Type.String()),
  /** Rows by their number of characters; a bucket reaches to the one before it, and `below` is not part of it. */
  lengths: Type.Object({
    min: count(),
    mean: Type.Number({ minimum: 0 }),
    max: count(),
    buckets: Type.Array(Type.Object({ below: count(), rows: count() })),
  }),
  /** Rows whose content an earlier row has. */
  duplicates: count(),
  /** Different contents that two splits share. */
  overlap: Type.Array(Type.Object({ splits: twoNames, rows: count() })),
  /** Whether duplicates and overlap are estimates, because there are too many different rows. */
  estimated: Type.Boolean(),
  /** By the name of the tokenizer. */
  tokens: byName(count()),
  /** The first ones. */
  errors: Type.Array(datasetError),
  error_count: count(),
  files: Type.Array(
    Type.Object({ name: Type.String(), rows: count(), bytes: count(), index: fileIndex }),
  ),
})
export type DatasetReport = Static<typeof datasetReport>
