import { type Static, Type } from 'typebox'
import { closed, nullable, oneOf, pageQuery, timestamp } from './shared.ts'

export const hubImportStates = ['resolving', 'downloading', 'ready', 'failed'] as const
export type HubImportState = (typeof hubImportStates)[number]

/** The body of `POST /api/hub-imports`: `hub:<org>/<name>[@<revision>]`; the revision is `main` if absent. */
export const hubImportInput = closed({ ref: Type.String({ minLength: 1, maxLength: 384 }) })

export const hubImportPath = Type.Object({
  import_id: Type.String({ minLength: 1, maxLength: 128 }),
})

export const hubFile = Type.Object({
  name: Type.String(),
  sha256: Type.String(),
  size_bytes: Type.Integer({ minimum: 0 }),
})
export type HubFile = Static<typeof hubFile>

const pinned = {
  import_id: Type.String(),
  /** With the commit, as in `model.ref` of a job. */
  ref: Type.String(),
  repo: Type.String(),
  commit: Type.String(),
  /** The branch, tag or commit of the request. */
  revision: Type.String(),
}

/** `created`: it was not there, or had failed; otherwise it is under way or ready. */
export const hubImportMade = Type.Object({
  ...pinned,
  state: oneOf(...hubImportStates),
  created: Type.Boolean(),
})

/** A model that a person imports. Figures are null until the hub has listed the files. */
export const hubImport = Type.Object({
  ...pinned,
  owner: Type.String(),
  state: oneOf(...hubImportStates),
  license: nullable(Type.String()),
  gated: nullable(Type.Boolean()),
  file_count: nullable(Type.Integer()),
  bytes: nullable(Type.Integer()),
  bytes_done: Type.Integer(),
  /** Why it failed, in the words of the hub where it gave some. */
  error: nullable(Type.String()),
  /** Covers the names and digests of its files; null until it is ready. */
  digest: nullable(Type.String()),
  created_at: timestamp(),
  updated_at: timestamp(),
})
export type HubImportRow = Static<typeof hubImport>

/** The same with its files, once it is ready. */
export const hubImportDetail = Type.Object({ ...hubImport.properties, files: Type.Array(hubFile) })

export const hubImportListQuery = closed({
  ...pageQuery,
  owner: Type.Optional(Type.String({ maxLength: 128 })),
  state: Type.Optional(oneOf(...hubImportStates)),
})

/** `endpoint` is null if no hub is configured. */
export const modelHub = Type.Object({ endpoint: nullable(Type.String()) })
export type ModelHub = Static<typeof modelHub>

export const hubImportDeleted = Type.Object({
  import_id: Type.String(),
  deleted: Type.Literal(true),
})

/** A file of the imported model that a run uses. */
export const modelOfRunQuery = closed({
  run_id: Type.String({ minLength: 1, maxLength: 128 }),
  hub_ref: Type.String({ minLength: 1, maxLength: 384 }),
  file: Type.String({ minLength: 1, maxLength: 512 }),
})
