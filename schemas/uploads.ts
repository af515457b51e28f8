import { type Static, Type } from 'typebox'
import { artifactKinds } from './artifacts/artifacts.ts'
import { closed, nameText, nullable, oneOf, printable, timestamp } from './shared.ts'

export const uploadPurposes = ['package', 'recipe', 'dataset', 'environment'] as const
/** Running code requests its uploads by `GET /api/ingest/artifact/upload-url`. */
const allPurposes = [...uploadPurposes, 'artifact'] as const
export type UploadPurpose = (typeof allPurposes)[number]

const sha256 = () => Type.String({ pattern: '^[0-9a-f]{64}$' })
const sizeBytes = () => Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })
const filename = () =>
  Type.String({
    minLength: 1,
    maxLength: 255,
    pattern: `^(?!\\.{1,2}$)(?:(?![/\\\\])${printable})+$`,
  })
const contentType = () =>
  Type.String({
    maxLength: 128,
    pattern: '^[A-Za-z0-9.+-]+/[A-Za-z0-9.+-]+$',
    default: 'application/octet-stream',
  })

/** The file is sent in up to this many parts, in any order; if absent, as a whole, which can be resumed. */
const parts = () => Type.Integer({ minimum: 1, maximum: 10_000 })

/** The body of `POST /api/uploads`; `sha256` is checked against the received bytes. */
export const uploadInput = closed({
  purpose: oneOf(...uploadPurposes),
  filename: filename(),
  size_bytes: sizeBytes(),
  sha256: Type.Optional(nullable(sha256())),
  content_type: contentType(),
  parts: Type.Optional(nullable(parts())),
})
export type UploadInput = Static<typeof uploadInput>

/** Running code's announcement of an artifact. */
export const artifactUploadQuery = closed({
  run_id: Type.String({ minLength: 1, maxLength: 128 }),
  kind: oneOf(...artifactKinds),
  format: nameText(128),
  filename: filename(),
  size_bytes: sizeBytes(),
  step: Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
  sha256: Type.Optional(sha256()),
  content_type: contentType(),
  parts: Type.Optional(parts()),
})
export type ArtifactUploadQuery = Static<typeof artifactUploadQuery>

/** The announced properties, as recorded. */
export const uploadFacts = {
  upload_id: Type.String(),
  owner: Type.String(),
  purpose: oneOf(...allPurposes),
  filename: Type.String(),
  size_bytes: Type.Integer({ minimum: 0 }),
  sha256: nullable(Type.String()),
  content_type: Type.String(),
}

/** Where to send the bytes. `exists`: they are already registered, so nothing needs to be sent. */
export const uploadTarget = Type.Object({
  upload_id: Type.String(),
  method: Type.Literal('PUT'),
  url: Type.String(),
  headers: Type.Record(Type.String(), Type.String()),
  path: Type.String(),
  expires_at: timestamp(),
  max_bytes: Type.Integer(),
  received_bytes: Type.Integer(),
  exists: Type.Boolean(),
  multipart: nullable(
    Type.Object({
      /** Size of each part but the last, which has the rest. */
      part_size: Type.Integer(),
      /** `PUT` each part as a whole to its address; a repeated part replaces the earlier one. */
      parts: Type.Array(Type.Object({ n: Type.Integer(), url: Type.String() })),
      /** `POST` without a body joins the parts; registering the file does so as well. */
      complete_url: Type.String(),
    }),
  ),
})

export const uploadPath = Type.Object({ upload_id: Type.String({ minLength: 1, maxLength: 128 }) })

const inAddress = () => Type.String({ minLength: 1, maxLength: 128 })

/** The signature that proves an address was issued by this installation. */
export const uploadSignature = closed({
  exp: inAddress(),
  len: inAddress(),
  sha256: inAddress(),
  kid: inAddress(),
  sig: inAddress(),
  /** The number of a part; not signed, because permission to send the file covers its parts. */
  part: Type.Optional(Type.String({ pattern: '^[1-9][0-9]{0,4}$' })),
})
export type UploadSignature = Static<typeof uploadSignature>

/** How many bytes of an upload have arrived, from the first on. */
export const uploadProgress = Type.Object({
  upload_id: Type.String(),
  received_bytes: Type.Integer(),
  size_bytes: Type.Integer(),
})

export const uploadCompleted = Type.Object({
  upload_id: Type.String(),
  status: Type.Literal('completed'),
  size_bytes: Type.Integer(),
  sha256: Type.String(),
})
