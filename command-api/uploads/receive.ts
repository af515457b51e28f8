import type { Context } from 'koa'
import type { ObjectStore } from '../../platform/objects/port.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { UploadSignature } from '../../schemas/uploads.ts'
import type { Deps } from '../deps.ts'
import { judgeQuery } from './address.ts'
import { notWhole, otherDigest } from './complete.ts'
import { joinParts, receivePart, removeParts } from './parts.ts'
import { pieceOf } from './piece.ts'
import { findUpload, type UploadRow } from './rows.ts'
import { storeFor } from './stores.ts'

/** Announced for clients that name no type, or any. */
export const anyType = '*/*'

type Sent = { upload_id: string; query: UploadSignature; ctx: Context }

/** Receives the bytes of a request with a signed address; returns how many have arrived in all. */
export async function receive(deps: Deps, { upload_id, query, ctx }: Sent) {
  const upload = await admitted(deps, { upload_id, query, ctx })
  const { size_bytes } = upload
  const store = storeFor(deps, upload.purpose)
  if (query.part !== undefined) {
    const received_bytes = await receivePart(store, upload, Number(query.part), ctx)
    return { upload_id, received_bytes, size_bytes }
  }
  const piece = pieceOf(ctx, size_bytes)
  const here = await store.received(upload_id)
  if (piece === null) return { upload_id, received_bytes: here, size_bytes }
  if (piece.start > here)
    throw new Refusal('conflict', `${here} bytes are here; continue with byte ${here}`, {
      code: 'upload.gap',
      data: { received_bytes: here },
    })
  const received_bytes = await store.receive(upload_id, piece.start, ctx.req)
  if (received_bytes === size_bytes) await refuseOtherDigest(store, upload)
  return { upload_id, received_bytes, size_bytes }
}

/** Joins the parts of an upload; returns how many bytes have arrived. */
export async function join(deps: Deps, { upload_id, query }: Omit<Sent, 'ctx'>) {
  const upload = await addressed(deps, { upload_id, query })
  const { size_bytes } = upload
  if (upload.completed_at !== null) return { upload_id, received_bytes: size_bytes, size_bytes }
  const store = storeFor(deps, upload.purpose)
  await joinParts(deps, store, upload)
  const received_bytes = await store.received(upload_id)
  if (received_bytes < size_bytes) throw notWhole(upload, received_bytes)
  await refuseOtherDigest(store, upload)
  return { upload_id, received_bytes, size_bytes }
}

/** Unknown uploads, and those of other installations, are refused like forged addresses: nobody learns which ids exist. */
async function addressed(deps: Deps, { upload_id, query }: Omit<Sent, 'ctx'>): Promise<UploadRow> {
  const upload = await findUpload(deps.pool, upload_id)
  const verdict = upload ? judgeQuery(deps.uploadKey, upload, query, deps.now()) : 'forged'
  if (!upload || verdict !== 'valid')
    throw new Refusal(
      'forbidden',
      verdict === 'expired'
        ? 'The address has expired; request another one in the same way'
        : 'The signature of the address is not valid; use the address unchanged',
      { code: `upload.address_${verdict}` },
    )
  return upload
}

async function admitted(deps: Deps, { ctx, ...sent }: Sent): Promise<UploadRow> {
  const upload = await addressed(deps, sent)
  const { upload_id } = upload
  if (upload.completed_at !== null)
    throw new Refusal('conflict', `${upload_id} is already registered`, {
      code: 'upload.completed',
    })
  const type = ctx.get('content-type').split(';')[0]?.trim().toLowerCase()
  const isAnnounced = [type, anyType].includes(upload.content_type.toLowerCase())
  if (!isAnnounced || ctx.get('content-encoding') !== '')
    throw new Refusal(
      'unsupported_media_type',
      `Send it as ${upload.content_type}, as announced, without Content-Encoding`,
    )
  return upload
}

/** Refused as soon as the last byte arrives, so that a client does not have to register the file to find out. */
async function refuseOtherDigest(store: ObjectStore, upload: UploadRow): Promise<void> {
  const { upload_id, sha256 } = upload
  if (sha256 === null) return
  const arrived = await store.digestOf(upload_id)
  if (arrived === sha256) return
  await store.removePart(upload_id)
  await removeParts(store, upload)
  throw otherDigest(sha256, arrived)
}
