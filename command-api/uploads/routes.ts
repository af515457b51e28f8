import { type Route, route } from '../../auth/route.ts'
import { Refusal } from '../../platform/refusal.ts'
import { environmentBounds } from '../../schemas/rl-environments/manifest.ts'
import {
  type UploadInput,
  uploadCompleted,
  uploadInput,
  uploadPath,
  uploadProgress,
  uploadSignature,
  uploadTarget,
} from '../../schemas/uploads.ts'
import type { Deps } from '../deps.ts'
import { announce, type UploadLimits } from './announce.ts'
import { complete, expandedBytes } from './complete.ts'
import { join, receive } from './receive.ts'
import { findUpload } from './rows.ts'

/** Maximum file size by purpose, unless SERVICE_MAX_UPLOAD_MB is lower. Recipes are kept in the database. */
const mostBytes: Partial<Record<UploadInput['purpose'], number>> = {
  package: 50 * 1024 * 1024,
  recipe: 16 * 1024 * 1024,
  environment: environmentBounds.archiveBytes,
}
/** Limits of one person: the number of unregistered uploads, and the size of all uploads in multiples of SERVICE_MAX_UPLOAD_MB. */
const maxPending = 20
export const maxHeld = 20

export const uploadRoutes = (deps: Deps): Route[] => [...announced(deps), ...addressed(deps)]

/** Routes for holders of an upload's signed address. */
const addressed = (deps: Deps): Route[] => [
  route({
    method: 'PUT',
    path: '/api/uploads/{upload_id}',
    credential: 'none',
    tag: 'uploads',
    summary: 'Send a file, or a part of it, to the address that was given for it',
    params: uploadPath,
    query: uploadSignature,
    rawBody: 'application/octet-stream',
    response: uploadProgress,
    refusals: [
      'invalid',
      'forbidden',
      'conflict',
      'length_required',
      'too_large',
      'unsupported_media_type',
    ],
    handle: ({ params, query, ctx }) => receive(deps, { ...params, query, ctx }),
  }),
  route({
    method: 'POST',
    path: '/api/uploads/{upload_id}/parts',
    credential: 'none',
    tag: 'uploads',
    summary: 'Join the parts of a file that were sent to their addresses',
    params: uploadPath,
    query: uploadSignature,
    response: uploadProgress,
    refusals: ['invalid', 'forbidden', 'conflict'],
    handle: ({ params, query }) => join(deps, { ...params, query }),
  }),
]

/** Routes for people. */
const announced = (deps: Deps): Route[] => [
  route({
    method: 'POST',
    path: '/api/uploads',
    credential: 'person',
    tag: 'uploads',
    summary: 'Ask for an address to send a file to',
    body: uploadInput,
    bodyLimitBytes: 64 * 1024,
    response: uploadTarget,
    refusals: ['invalid', 'conflict', 'too_large'],
    handle(request) {
      const { body, caller } = request
      const { parts = null, ...file } = body
      const announced = { ...file, sha256: file.sha256 ?? null, owner: caller.username }
      return announce(deps, request, announced, { ...limitsOf(deps, body), parts })
    },
  }),
  route({
    method: 'POST',
    path: '/api/uploads/{upload_id}/complete',
    credential: 'person',
    reach: 'self',
    tag: 'uploads',
    summary: 'Register a file that was sent in full',
    params: uploadPath,
    response: uploadCompleted,
    refusals: ['invalid', 'not_found', 'conflict', 'too_large'],
    async handle(request) {
      const { caller, params } = request
      const upload = await findUpload(deps.pool, params.upload_id)
      if (upload?.owner !== caller.username)
        throw new Refusal('not_found', `No such upload: ${params.upload_id}`)
      const { upload_id, size_bytes } = upload
      const sha256 = await complete(deps, request, upload)
      return { upload_id, status: 'completed', size_bytes, sha256 }
    },
  }),
]

const limitsOf = ({ config }: Deps, { purpose }: UploadInput): UploadLimits => ({
  bytes: Math.min(expandedBytes(config), mostBytes[purpose] ?? Number.POSITIVE_INFINITY),
  heldBytes: maxHeld * expandedBytes(config),
  pending: maxPending,
})
