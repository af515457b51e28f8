import { type Static, Type } from 'typebox'
import { closed, nameText, nullable, oneOf, pageQuery, timestamp } from '../shared.ts'
import { datasetKinds, datasetReport } from './report.ts'

export const datasetStates = ['validating', 'ready', 'invalid', 'deprecated'] as const
export type DatasetState = (typeof datasetStates)[number]
export const datasetSources = ['upload', 'hub', 'reflow', 'annotation', 'run', 'volume'] as const

export const maxDatasetFiles = 256

const owner = () => Type.String({ minLength: 1, maxLength: 128 })
const name = () =>
  Type.String({ minLength: 1, maxLength: 128, pattern: '^[a-zA-Z0-9][a-zA-Z0-9_.-]*$' })
const versionNumber = () => Type.Integer({ minimum: 1, maximum: 1_000_000 })
const uploadId = () => Type.String({ minLength: 1, maxLength: 128 })
const reference = () =>
  Type.String({ maxLength: 256, pattern: '^[^/@]{1,128}/[^/@]{1,128}@[1-9][0-9]{0,8}$' })
const card = () => Type.String({ maxLength: 50_000 })
const license = () => nullable(nameText(200))
const visibility = () => oneOf('private', 'public')
/** Who uses a public dataset; others need the grant. */
const use = () => oneOf('everybody', 'granted')
const reason = () => Type.String({ maxLength: 1000 })

/** A relative path without `.` and `..`. */
export const datasetFileName = '^[A-Za-z0-9_][A-Za-z0-9._-]*(/[A-Za-z0-9_][A-Za-z0-9._-]*)*$'
const fileName = () => Type.String({ minLength: 1, maxLength: 255, pattern: datasetFileName })

/** Counts the tokens of a version: a `tokenizer.json`, uploaded with purpose `dataset`, and the name it goes by. */
const tokenizer = closed({ name: nameText(128), upload_id: uploadId() })

/** The body of `POST /api/datasets/{owner}/{name}/versions`. */
export const datasetVersionInput = closed({
  /** Must be the next number; a repeated push names the version that it made. */
  version: Type.Optional(versionNumber()),
  files: Type.Array(closed({ upload_id: uploadId(), name: fileName() }), {
    minItems: 1,
    maxItems: maxDatasetFiles,
  }),
  /** Recognised from the rows if absent. */
  kind: Type.Optional(nullable(oneOf(...datasetKinds))),
  tokenizer: Type.Optional(nullable(tokenizer)),
  license: Type.Optional(license()),
  visibility: Type.Optional(visibility()),
  use: Type.Optional(use()),
  card: Type.Optional(card()),
  /** The versions that this one was made from. */
  parents: Type.Optional(Type.Array(reference(), { maxItems: 100, uniqueItems: true })),
})
export type DatasetVersionInput = Static<typeof datasetVersionInput>

/** The body of `PATCH /api/datasets/{owner}/{name}`; absent fields keep their value. */
export const datasetPatch = closed({
  card: Type.Optional(card()),
  license: Type.Optional(license()),
  visibility: Type.Optional(visibility()),
  use: Type.Optional(use()),
})
export type DatasetPatch = Static<typeof datasetPatch>

export const datasetGrantInput = closed({ see: Type.Boolean(), use: Type.Boolean() })
export const datasetDeprecation = closed({ reason: reason() })

export const datasetPath = Type.Object({ owner: owner(), name: name() })
export const datasetVersionPath = Type.Object({
  owner: owner(),
  name: name(),
  version: versionNumber(),
})
export const datasetGrantPath = Type.Object({ owner: owner(), name: name(), username: owner() })
export const datasetFilePath = Type.Object({
  owner: owner(),
  name: name(),
  version: versionNumber(),
  path: fileName(),
})

/** `dry_run`: only lists what the deletion would break; `force`: deletes although ended runs and other versions name it. */
export const datasetDeletionQuery = closed({
  dry_run: Type.Optional(Type.Boolean()),
  force: Type.Optional(Type.Boolean()),
})

export const datasetListQuery = closed({
  ...pageQuery,
  q: Type.Optional(Type.String({ maxLength: 200 })),
  owner: Type.Optional(Type.String({ maxLength: 128 })),
  /** The state of the newest version. */
  state: Type.Optional(oneOf(...datasetStates)),
})
export const pageOfDataset = closed(pageQuery)

/** `from`: the first row, counted from 0; for the next page, `next` of the page before. */
export const datasetRowsQuery = closed({
  split: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
  from: Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 50 })),
  q: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
})

/** The file of a dataset requested by a run that uses it. */
export const datasetOfRunQuery = closed({
  run_id: Type.String({ minLength: 1, maxLength: 128 }),
  ref: reference(),
  file: fileName(),
})

/** The settings of a dataset, as recorded. */
export const datasetSettings = {
  visibility: visibility(),
  use: use(),
  license: nullable(Type.String()),
  card: Type.String(),
}

/** A file of a version, as recorded; its bytes are those of the upload. */
export const datasetFile = Type.Object({
  name: Type.String(),
  upload_id: Type.String(),
  sha256: Type.String(),
  size_bytes: Type.Integer({ minimum: 0 }),
})
export type DatasetFileFacts = Static<typeof datasetFile>

/** A version, as recorded when it was created. */
export const datasetVersionFacts = {
  owner: Type.String(),
  name: Type.String(),
  version: Type.Integer({ minimum: 1 }),
  /** Covers the sorted names and digests of its files. */
  digest: Type.String(),
  /** As asked for; null: to be recognised. */
  kind: nullable(oneOf(...datasetKinds)),
  tokenizer: nullable(
    Type.Object({ name: Type.String(), upload_id: Type.String(), sha256: Type.String() }),
  ),
  files: Type.Array(datasetFile),
  parents: Type.Array(Type.String()),
  source: Type.Object({ kind: oneOf(...datasetSources) }),
}

const { errors, error_count, files, ...found } = datasetReport.properties
const { format, kind, rows, bytes, splits, schema, tokens } = found

const versionNames = {
  /** `owner/name@version`, as jobs name it. */
  ref: Type.String(),
  dataset: Type.String(),
  owner: Type.String(),
  version: Type.Integer({ minimum: 1 }),
  digest: Type.String(),
  state: oneOf(...datasetStates),
}

/** One version, in lists. Until it is validated, what the validation finds out is null or empty. */
const versionRow = {
  ...versionNames,
  format,
  kind,
  rows: nullable(rows),
  bytes,
  tokens,
  splits,
  schema,
  error_count: nullable(error_count),
  parents: Type.Array(Type.String()),
  source: Type.Object({ kind: oneOf(...datasetSources) }),
  visibility: visibility(),
  license: nullable(Type.String()),
  deprecated_reason: nullable(Type.String()),
  created_by: Type.String(),
  created_at: timestamp(),
  validated_at: nullable(timestamp()),
  /** Runs that use it, as far as the caller may read them. */
  used_by_count: Type.Integer({ minimum: 0 }),
}
export const datasetVersion = Type.Object(versionRow)
export type DatasetVersion = Static<typeof datasetVersion>

/** One version with the whole result of its validation. */
export const datasetVersionDetail = Type.Object({
  ...versionRow,
  lengths: nullable(found.lengths),
  duplicates: nullable(found.duplicates),
  overlap: found.overlap,
  estimated: found.estimated,
  /** The volume whose snapshot it is, if the caller may see that and it still exists. */
  volume: nullable(
    Type.Object({ volume_id: Type.String(), name: Type.String(), path: Type.String() }),
  ),
  errors,
  files: Type.Array(
    Type.Object({
      name: Type.String(),
      sha256: Type.String(),
      size_bytes: Type.Integer({ minimum: 0 }),
      split: nullable(Type.String()),
      rows: nullable(Type.Integer({ minimum: 0 })),
    }),
  ),
})

/** What the caller may do: `see`, `use` (rows, files, training), `write`. */
const standing = () => oneOf('see', 'use', 'write')

const datasetRow = {
  /** `owner/name`. */
  dataset: Type.String(),
  owner: Type.String(),
  name: Type.String(),
  visibility: visibility(),
  use: use(),
  license: nullable(Type.String()),
  may: standing(),
  versions: Type.Integer({ minimum: 0 }),
  /** The newest version; null if all were deleted. */
  newest: nullable(datasetVersion),
  created_at: timestamp(),
  updated_at: timestamp(),
}
export const dataset = Type.Object(datasetRow)

const grant = Type.Object({
  username: Type.String(),
  see: Type.Boolean(),
  use: Type.Boolean(),
  granted_by: Type.String(),
  granted_at: timestamp(),
})

/** Only who may write it sees the grants of others. */
export const datasetDetail = Type.Object({
  ...datasetRow,
  card: Type.String(),
  grants: Type.Array(grant),
})

/** `next`: the `from` of the next page; null: there is no more. */
export const datasetRows = Type.Object({
  split: Type.String(),
  splits: Type.Array(Type.String()),
  /** Rows of the split. */
  total: Type.Integer({ minimum: 0 }),
  rows: Type.Array(
    Type.Object({
      /** Its number in the split, from 0. */
      row: Type.Integer({ minimum: 0 }),
      file: Type.String(),
      data: Type.Unknown(),
    }),
  ),
  next: nullable(Type.Integer({ minimum: 0 })),
})

/** A run or a version that names a version. */
export const datasetUse = Type.Object({
  type: oneOf('run', 'dataset'),
  id: Type.String(),
  name: nullable(Type.String()),
  owner: Type.String(),
  state: Type.String(),
})

/** `created`: false if the newest version has the same files already. */
export const datasetVersionCreated = Type.Object({
  ...versionNames,
  created: Type.Boolean(),
})
export const datasetChanged = Type.Object({
  dataset: Type.String(),
  owner: Type.String(),
  name: Type.String(),
  ...datasetSettings,
  changed: Type.Boolean(),
})
export const datasetGranted = Type.Object({
  dataset: Type.String(),
  username: Type.String(),
  see: Type.Boolean(),
  use: Type.Boolean(),
  changed: Type.Boolean(),
})
export const datasetDeprecated = Type.Object({
  ref: Type.String(),
  state: oneOf(...datasetStates),
  reason: Type.String(),
  changed: Type.Boolean(),
})

/** `would_break`: at most 100; with `dry_run`, nothing is deleted. */
export const datasetVersionDeleted = Type.Object({
  ref: Type.String(),
  deleted: Type.Boolean(),
  would_break: Type.Array(Type.Object({ type: oneOf('run', 'dataset'), id: Type.String() })),
})
