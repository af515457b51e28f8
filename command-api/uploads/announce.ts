import { uploadAt } from '../../events/uploads.ts'
import { Refusal } from '../../platform/refusal.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'
import type { UploadPurpose } from '../../schemas/uploads.ts'
import type { Asked } from '../commit/asked.ts'
import { create, fresh } from '../commit/commit.ts'
import type { Transaction } from '../commit/event-store.ts'
import type { Deps } from '../deps.ts'
import { refuseBeyondStorage, storageLocks, storageQuotaOf } from '../rules/storage-quota.ts'
import { pathOfUpload, signedQuery } from './address.ts'
import { requestUpload } from './decide.ts'
import { numbersOf, partSizeOf } from './parts.ts'
import {
  findSame,
  findUpload,
  holdingsOf,
  insertUpload,
  keepPartSize,
  type UploadRow,
} from './rows.ts'
import { storeFor } from './stores.ts'

/** How long an address is valid, in milliseconds. */
const addressMs = 3_600_000

export type Announced = {
  /** A person, or a run. */
  owner: string
  purpose: UploadPurpose
  filename: string
  size_bytes: number
  sha256: string | null
  content_type: string
}

export type UploadLimits = {
  /** Maximum size of this file. */
  bytes: number
  /** Maximum size of all files of its owner. */
  heldBytes: number
  /** Maximum number of unregistered files of its owner. */
  pending: number
}

/** The upload for announced bytes: an existing one of the same owner and content, or a new one. */
export async function announce(
  deps: Deps,
  request: Asked,
  announced: Announced,
  { parts, ...limits }: UploadLimits & { parts: number | null },
) {
  if (announced.size_bytes > limits.bytes)
    throw new Refusal(
      'too_large',
      `${announced.filename} has ${announced.size_bytes} bytes; the limit for ${announced.purpose} uploads is ${limits.bytes}`,
      { code: 'upload.too_large', data: { limit_bytes: limits.bytes } },
    )
  const same = await usableSame(deps, announced)
  const upload = same ?? (await createUpload(deps, request, announced, limits))
  return targetOf(deps, upload, { limit: limits.bytes, parts })
}

/** An upload whose registered file was lost cannot be reused: the bytes must be sent again. */
async function usableSame(deps: Deps, announced: Announced): Promise<UploadRow | null> {
  const { sha256, size_bytes } = announced
  if (sha256 === null) return null
  const same = await findSame(deps.pool, { ...announced, sha256 }, deps.now())
  if (same === null || same.completed_at === null) return same
  return (await storeFor(deps, announced.purpose).sizeOf(sha256)) === size_bytes ? same : null
}

async function createUpload(
  deps: Deps,
  request: Asked,
  announced: Announced,
  limits: UploadLimits,
): Promise<UploadRow> {
  const upload = { upload_id: deps.newId('upl'), ...announced }
  const quota = await storageQuotaOf(deps.pool, announced.owner)
  const target = fresh(uploadAt(upload.upload_id))
  const made = await create(deps, request, target, {
    locks: [`uploads of ${announced.owner}`, ...storageLocks(quota)],
    async make(work) {
      await refuseTooMany(work.tx, announced, limits)
      await refuseBeyondStorage(work.tx, quota, { bytes: announced.size_bytes, instead: {} })
      await work.decide(target, {
        decide: state => requestUpload(state, upload),
        alongside: (tx, { now }) => insertUpload(tx, upload, now),
      })
      return upload
    },
  })
  // A repeated request may arrive when the upload is already registered.
  return (
    (await findUpload(deps.pool, made.upload_id)) ?? {
      ...made,
      completed_at: null,
      part_size: null,
    }
  )
}

async function refuseTooMany(tx: Transaction, announced: Announced, limits: UploadLimits) {
  const { bytes, pending } = await holdingsOf(tx, announced.owner)
  const whose = announced.purpose === 'artifact' ? 'of the run' : 'of yours'
  if (pending >= limits.pending)
    throw new Refusal(
      'conflict',
      `${pending} uploads ${whose} are not registered; finish them, or wait until they are deleted after 24 h`,
      { code: 'upload.too_many', data: { limit: limits.pending } },
    )
  if (bytes + announced.size_bytes > limits.heldBytes)
    throw new Refusal(
      'conflict',
      `The uploads ${whose} have ${bytes} bytes in total; the limit is ${limits.heldBytes}`,
      { code: 'upload.no_room', data: { limit_bytes: limits.heldBytes } },
    )
}

/** The name of the bytes, which no other bytes ever get. */
export const nameOfBytes = ({ upload_id, owner, purpose, filename }: UploadRow): string =>
  purpose === 'artifact'
    ? `forge://${owner}/${upload_id}/${encodeURIComponent(filename)}`
    : `uploads/${upload_id}`

async function targetOf(
  deps: Deps,
  upload: UploadRow,
  { limit, parts }: { limit: number; parts: number | null },
) {
  const { upload_id, purpose, content_type, size_bytes, completed_at } = upload
  const expires = new Date(deps.now().getTime() + addressMs)
  const query = new URLSearchParams(signedQuery(deps.uploadKey, upload, expires))
  const at = `${deps.baseUrl()}${pathOfUpload(upload_id)}`
  const exists = completed_at !== null
  return {
    upload_id,
    method: 'PUT' as const,
    url: `${at}?${query}`,
    headers: { 'Content-Type': content_type },
    path: nameOfBytes(upload),
    expires_at: toTimestamp(expires),
    max_bytes: limit,
    received_bytes: exists ? size_bytes : await storeFor(deps, purpose).received(upload_id),
    exists,
    multipart: parts === null ? null : await partsOf(deps, upload, { parts, at, query }),
  }
}

type Addresses = { parts: number; at: string; query: URLSearchParams }

async function partsOf(
  { pool }: Deps,
  { upload_id, size_bytes }: UploadRow,
  { parts, at, query }: Addresses,
) {
  const part_size = await keepPartSize(pool, upload_id, partSizeOf(size_bytes, parts))
  const numbers = numbersOf(size_bytes, part_size)
  return {
    part_size,
    parts: numbers.map(n => ({ n, url: `${at}?${query}&part=${n}` })),
    complete_url: `${at}/parts?${query}`,
  }
}
