import { type Route, route } from '../../auth/route.ts'
import { uploadAt } from '../../events/uploads.ts'
import { Refusal } from '../../platform/refusal.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'
import {
  type UploadInput,
  uploadCompleted,
  uploadInput,
  uploadPath,
  uploadProgress,
  uploadSignature,
  uploadTarget,
} from '../../schemas/uploads.ts'
import type { HttpAsked } from '../asked.ts'
import { create, fresh } from '../commit.ts'
import type { Deps } from '../deps.ts'
import type { Transaction } from '../event-store.ts'
import { pathOf, signedQuery } from './address.ts'
import { complete, expandedBytes } from './complete.ts'
import { requestUpload } from './decide.ts'
import { receive } from './receive.ts'
import { findSame, findUpload, holdingsOf, insertUpload, type UploadRow } from './rows.ts'

/** How long an address is valid, in milliseconds. */
const addressMs = 3_600_000
/** What files may have as they are sent, if SERVICE_MAX_UPLOAD_MB is not less. Recipes are kept in the database. */
const mostBytes: Partial<Record<UploadInput['purpose'], number>> = {
  package: 50 * 1024 * 1024,
  recipe: 16 * 1024 * 1024,
}
/** Of one person: uploads that are not registered, and all of them in multiples of SERVICE_MAX_UPLOAD_MB. */
const maxPending = 20
const maxHeld = 20

export const uploadRoutes = (deps: Deps): Route[] => [
  route({
    method: 'POST',
    path: '/api/uploads',
    credential: 'person',
    tag: 'uploads',
    summary: 'Ask for an address to send a file to',
    body: uploadInput,
    bodyLimitBytes: 64 * 1024,
    response: uploadTarget,
    refusals: ['conflict', 'too_large'],
    handle: request => announce(deps, request, request.caller.username),
  }),
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

const limitOf = ({ config }: Deps, { purpose }: UploadInput): number =>
  Math.min(expandedBytes(config), mostBytes[purpose] ?? Number.POSITIVE_INFINITY)

async function announce(deps: Deps, request: HttpAsked & { body: UploadInput }, owner: string) {
  const { body } = request
  const limit = limitOf(deps, body)
  if (body.size_bytes > limit)
    throw new Refusal(
      'too_large',
      `${body.filename} has ${body.size_bytes} bytes; at most ${limit} are accepted for a ${body.purpose}`,
      { code: 'upload.too_large', data: { limit_bytes: limit } },
    )
  const { sha256 = null } = body
  const announced = { ...body, sha256, owner }
  const same =
    sha256 === null ? null : await findSame(deps.pool, { ...announced, sha256 }, deps.now())
  const upload = same ?? (await createUpload(deps, request, announced))
  return targetOf(deps, upload, limit)
}

type Announced = UploadInput & { sha256: string | null; owner: string }

async function createUpload(
  deps: Deps,
  request: HttpAsked,
  announced: Announced,
): Promise<UploadRow> {
  const upload = { upload_id: deps.newId('upl'), ...announced }
  const target = fresh(uploadAt(upload.upload_id))
  const made = await create(deps, request, target, {
    locks: [`uploads of ${announced.owner}`],
    async make(work) {
      await refuseTooMany(work.tx, deps, announced)
      await work.decide(target, {
        decide: state => requestUpload(state, upload),
        alongside: (tx, { now }) => insertUpload(tx, upload, now),
      })
      return upload
    },
  })
  // A repeated request may come when the upload is registered already.
  return (await findUpload(deps.pool, made.upload_id)) ?? { ...made, completed_at: null }
}

async function refuseTooMany(tx: Transaction, { config }: Deps, announced: Announced) {
  const { bytes, pending } = await holdingsOf(tx, announced.owner)
  if (pending >= maxPending)
    throw new Refusal(
      'conflict',
      `${pending} of your uploads are not registered; finish them, or wait until they are deleted after 24 h`,
      { code: 'upload.too_many', data: { limit: maxPending } },
    )
  const limit = maxHeld * expandedBytes(config)
  if (bytes + announced.size_bytes > limit)
    throw new Refusal(
      'conflict',
      `Your uploads have ${bytes} bytes, and ${limit} is the most; those that no job needs are deleted in time`,
      { code: 'upload.no_room', data: { limit_bytes: limit } },
    )
}

async function targetOf(deps: Deps, upload: UploadRow, limit: number) {
  const { upload_id, content_type, size_bytes, completed_at } = upload
  const expires = new Date(deps.now().getTime() + addressMs)
  const query = new URLSearchParams(signedQuery(deps.uploadKey, upload, expires))
  const exists = completed_at !== null
  return {
    upload_id,
    method: 'PUT',
    url: `${deps.baseUrl()}${pathOf(upload_id)}?${query}`,
    headers: { 'Content-Type': content_type },
    path: `uploads/${upload_id}`,
    expires_at: toTimestamp(expires),
    max_bytes: limit,
    received_bytes: exists ? size_bytes : await deps.uploads.received(upload_id),
    exists,
    multipart: null,
  }
}
