import { uploadAt } from '../../events/uploads.ts'
import { maxEntries, readArchive } from '../../platform/files/archive.ts'
import type { Sealed } from '../../platform/objects/port.ts'
import { Refusal } from '../../platform/refusal.ts'
import { isSensitive } from '../../schemas/artifacts/sensitive-files.ts'
import type { Asked } from '../commit/asked.ts'
import { commit } from '../commit/commit.ts'
import type { Deps } from '../deps.ts'
import { contentLock } from '../rules/content-lock.ts'
import { completeUpload } from './decide.ts'
import { joinParts, removeParts } from './parts.ts'
import { markCompleted, type UploadRow } from './rows.ts'
import { storeFor } from './stores.ts'

/** How many sensitive files a refusal names. */
const maxNamed = 20

/** Registers an upload that has arrived in full; returns its digest. An archive is read to the end before it counts. */
export async function complete(deps: Deps, request: Asked, upload: UploadRow): Promise<string> {
  const { upload_id, owner, size_bytes } = upload
  const store = storeFor(deps, upload.purpose)
  if (upload.completed_at !== null && upload.sha256 !== null) return upload.sha256
  await joinParts(deps, store, upload)
  const sealed = await store.seal(upload_id)
  if (sealed === null) throw notWhole(upload, 0)
  try {
    if (sealed.size !== size_bytes) throw notWhole(upload, sealed.size)
    if (upload.sha256 !== null && upload.sha256 !== sealed.sha256) {
      await store.removePart(upload_id)
      await removeParts(store, upload)
      throw otherDigest(upload.sha256, sealed.sha256)
    }
    const { sensitive, ...contents } = await inspect(deps, upload, sealed)
    const facts = { upload_id, owner, size_bytes, sha256: sealed.sha256, ...contents }
    await commit(deps, request, uploadAt(upload_id), {
      locks: [contentLock(sealed.sha256)],
      decide: state => completeUpload(state, facts),
      async alongside(tx, { now }) {
        await store.keep(sealed)
        await markCompleted(tx, { ...facts, sensitive }, now)
      },
    })
  } finally {
    await store.discard(sealed)
  }
  await store.removePart(upload_id)
  await removeParts(store, upload)
  return sealed.sha256
}

type Inspected = { files: number | null; expanded_bytes: number | null; sensitive: string[] }

/** The contents of a package's archive; other files are not inspected. */
async function inspect(
  { config, uploads }: Deps,
  { purpose }: UploadRow,
  sealed: Sealed,
): Promise<Inspected> {
  if (purpose !== 'package') return { files: null, expanded_bytes: null, sensitive: [] }
  const sensitive: string[] = []
  const limits = { expandedBytes: expandedBytes(config), entries: maxEntries }
  const { files, bytes } = await readArchive(
    uploads.sealedFile(sealed),
    limits,
    async ({ kind, path }) => {
      if (kind === 'file' && isSensitive(path) && sensitive.length < maxNamed) sensitive.push(path)
    },
  )
  return { files, expanded_bytes: bytes, sensitive }
}

/** Maximum size of a file, and of the expanded archive. */
export const expandedBytes = ({ maxUploadMb }: Pick<Deps['config'], 'maxUploadMb'>): number =>
  maxUploadMb * 1024 * 1024

export const notWhole = ({ size_bytes }: UploadRow, received_bytes: number) =>
  new Refusal(
    'conflict',
    `${received_bytes} of ${size_bytes} bytes have arrived; send the rest, then register it`,
    { code: 'upload.incomplete', data: { received_bytes, size_bytes } },
  )

export const otherDigest = (announced: string, arrived: string) =>
  new Refusal(
    'invalid',
    `The bytes that arrived have the SHA-256 ${arrived}, not ${announced}; send them again`,
    { code: 'upload.sha256', data: { announced, arrived } },
  )
