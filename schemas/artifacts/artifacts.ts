import { type Static, Type } from 'typebox'
import {
  byName,
  byPrintableName,
  closed,
  nameText,
  nullable,
  oneOf,
  pageQuery,
  timestamp,
} from '../shared.ts'

export const artifactStatuses = [
  'registered',
  'verified',
  'missing',
  'deleting',
  'deleted',
] as const
/** The status of artifacts that exist, as far as Forge knows: neither lost nor deleted. */
export const presentStatuses = ['registered', 'verified'] as const
/** Why an artifact stays: a job started from it, an attempt continues from it, or it is a version of a model. */
export const protections = ['init_from', 'resume', 'model', 'deployment'] as const

export const artifactKinds = ['checkpoint', 'hf_export', 'eval_report', 'merged_model'] as const

/** The file name at the end of a path in the store; null if the path has no valid one. */
export function storedName(path: string): string | null {
  try {
    const name = decodeURIComponent(path.slice(path.lastIndexOf('/') + 1))
    return ['', '.', '..'].includes(name) ? null : name
  } catch {
    return null
  }
}
/** Suffix of a folder packed in one file; a run that starts from the file gets the folder. */
export const folderSuffix = '.folder.tar.gz'
/** The packed folder according to a file name; null: none. */
export function folderInName(filename: string): string | null {
  if (!filename.endsWith(folderSuffix)) return null
  const name = filename.slice(0, -folderSuffix.length)
  return ['', '.', '..'].includes(name) ? null : name
}
/** Whether a path means something on every machine. */
export const isAddress = (path: string): boolean => /^[A-Za-z][A-Za-z0-9+.-]*:\/\//.test(path)

const step = () => Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
const sizeBytes = () => Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
const sha256 = () => Type.String({ pattern: '^[0-9a-f]{64}$' })

/** The body of `POST /api/ingest/artifact` (specification, "Artifact"). */
export const artifactInput = closed({
  run_id: Type.String({ minLength: 1, maxLength: 128 }),
  kind: oneOf(...artifactKinds),
  path: nameText(4096),
  format: nameText(128),
  step: Type.Optional(nullable(step())),
  size_bytes: Type.Optional(nullable(sizeBytes())),
  sha256: Type.Optional(nullable(sha256())),
  metrics: Type.Optional(nullable(byPrintableName(Type.Number(), { maxProperties: 100 }))),
  upload_id: Type.Optional(nullable(Type.String({ minLength: 1, maxLength: 128 }))),
  attempt: Type.Optional(nullable(Type.Integer({ minimum: 1, maximum: 1_000_000 }))),
})
export type ArtifactInput = Static<typeof artifactInput>

/** `created` is false when the run had already registered this kind, path and step. */
export const artifactReply = Type.Object({
  ok: Type.Literal(true),
  artifact_id: Type.String(),
  created: Type.Boolean(),
  status: Type.Literal('registered'),
})

/** A registered artifact. */
export const artifactFacts = {
  artifact_id: Type.String(),
  run_id: Type.String(),
  kind: oneOf(...artifactKinds),
  path: Type.String(),
  format: Type.String(),
  step: nullable(step()),
  size_bytes: nullable(sizeBytes()),
  sha256: nullable(sha256()),
  metrics: byName(Type.Number()),
  attempt: nullable(Type.Integer({ minimum: 1 })),
}

/** `init_from` can be pasted into the spec of a next stage; `load` lists every way to load the artifact. */
export const artifact = Type.Object({
  ...artifactFacts,
  status: oneOf(...artifactStatuses),
  file_count: nullable(Type.Integer({ minimum: 0 })),
  is_best: Type.Boolean(),
  is_latest: Type.Boolean(),
  init_from: nullable(
    Type.Object({
      artifact_id: Type.String(),
      load: Type.Array(oneOf('weights', 'full_state')),
    }),
  ),
  /** Only runs that the caller may read; hidden ones protect it as well. */
  protected_by: Type.Array(Type.Object({ type: oneOf(...protections), id: Type.String() })),
  expires_at: nullable(timestamp()),
  created_at: timestamp(),
  registered_by: Type.String(),
  deleted_at: nullable(timestamp()),
  /** A person, or `keep_rules` for the rules of its job. */
  deleted_by: nullable(Type.String()),
})
export type Artifact = Static<typeof artifact>

/** The artifact requested by a run that starts from it. */
export const startQuery = closed({
  run_id: Type.String({ minLength: 1, maxLength: 128 }),
  artifact_id: Type.String({ minLength: 1, maxLength: 128 }),
})

export const artifactInPath = Type.Object({
  artifact_id: Type.String({ minLength: 1, maxLength: 128 }),
})

/** Where the bytes of an artifact can be fetched, without a token. */
export const downloadAddress = Type.Object({
  method: Type.Literal('GET'),
  url: Type.String(),
  expires_at: timestamp(),
  filename: Type.String(),
  size_bytes: nullable(Type.Integer({ minimum: 0 })),
  sha256: Type.String(),
})

const inAddress = (maxLength = 128) => Type.String({ minLength: 1, maxLength })

/** The signature that proves an address was issued by this installation. */
export const downloadSignature = closed({
  exp: inAddress(),
  sha256: sha256(),
  filename: inAddress(1024),
  kid: inAddress(),
  sig: inAddress(),
})
export type DownloadSignature = Static<typeof downloadSignature>

export const artifactListQuery = closed({
  ...pageQuery,
  kind: Type.Optional(oneOf(...artifactKinds)),
  /** Default: all but deleted ones. */
  status: Type.Optional(oneOf('all', ...artifactStatuses)),
})

/**
 * The fate of the bytes: `shared` and `left` stay, because other artifacts share them, or because they are stored
 * elsewhere.
 */
export const fatesOfBytes = ['removed', 'shared', 'left'] as const

export const artifactDeletionQuery = closed({
  dry_run: Type.Optional(Type.Boolean()),
})

/**
 * `status` is the new status, or the resulting one for a dry run. `bytes` is null if it was deleted `already`;
 * `freed_bytes`: bytes that the store no longer needs to hold.
 */
export const artifactDeleted = Type.Object({
  artifact_id: Type.String(),
  run_id: Type.String(),
  path: Type.String(),
  dry_run: Type.Boolean(),
  already: Type.Boolean(),
  status: oneOf(...artifactStatuses),
  bytes: nullable(oneOf(...fatesOfBytes)),
  freed_bytes: Type.Integer({ minimum: 0 }),
  detail: Type.String(),
})
export type ArtifactDeleted = Static<typeof artifactDeleted>
