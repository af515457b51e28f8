import { type Static, Type } from 'typebox'
import { closed, nullable, oneOf, timestamp } from './shared.ts'

export const uploadPurposes = ['package', 'recipe', 'dataset'] as const

const sha256 = () => Type.String({ pattern: '^[0-9a-f]{64}$' })
const sizeBytes = () => Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })

/** The body of `POST /api/uploads`; `sha256` is checked against what arrives. */
export const uploadInput = closed({
  purpose: oneOf(...uploadPurposes),
  filename: Type.String({ minLength: 1, maxLength: 255, pattern: '^[^/\\\\\\x00-\\x1f\\x7f]+$' }),
  size_bytes: sizeBytes(),
  sha256: Type.Optional(nullable(sha256())),
  content_type: Type.String({
    maxLength: 128,
    pattern: '^[A-Za-z0-9.+-]+/[A-Za-z0-9.+-]+$',
    default: 'application/octet-stream',
  }),
})
export type UploadInput = Static<typeof uploadInput>

/** What was announced, as recorded. */
export const uploadFacts = {
  upload_id: Type.String(),
  owner: Type.String(),
  purpose: oneOf(...uploadPurposes),
  filename: Type.String(),
  size_bytes: Type.Integer({ minimum: 1 }),
  sha256: nullable(Type.String()),
  content_type: Type.String(),
}

/** Where the bytes go. `exists`: they are here and registered already, nothing is to be sent. */
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
  multipart: Type.Null(),
})

export const uploadPath = Type.Object({ upload_id: Type.String({ minLength: 1, maxLength: 128 }) })

const inAddress = () => Type.String({ minLength: 1, maxLength: 128 })

/** What makes an address one that this installation gave out. */
export const uploadSignature = closed({
  exp: inAddress(),
  len: inAddress(),
  sha256: inAddress(),
  kid: inAddress(),
  sig: inAddress(),
})
export type UploadSignature = Static<typeof uploadSignature>

/** How many bytes of an upload are here, from its first on. */
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
