import type { Context } from 'koa'
import { type Route, route } from '../../auth/route.ts'
import type { Range } from '../../platform/http/range.ts'
import { sendFile } from '../../platform/http/send-file.ts'
import type { AddressKey } from '../../platform/http/signed-address.ts'
import type { ObjectStore } from '../../platform/objects/port.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { Clock } from '../../platform/time.ts'
import {
  artifactInPath,
  downloadAddress,
  downloadSignature,
  storedName,
} from '../../schemas/artifacts/artifacts.ts'
import { isInStore } from '../../schemas/artifacts/in-store.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'
import type { Reads } from '../reading/reads.ts'
import { downloadPath, judgeDownload, signedDownload } from './address.ts'
import { type ArtifactRow, findArtifact, type Tables } from './find.ts'

/** The contents of artifacts. */
export type Contents = {
  reads: Reads<Tables>
  store: Pick<ObjectStore, 'sizeOf' | 'read'>
  key: AddressKey
  now: Clock
  baseUrl: () => string
}

/** How long an address for a download is valid, in milliseconds. */
const addressMs = 15 * 60_000

const bytes = {
  mediaType: 'application/octet-stream',
  description:
    'the bytes, or with `Range: bytes=<first>-<last>` some of them (206); `ETag` is the digest',
} as const

export const contentRoutes = (contents: Contents): Route[] => [
  route({
    method: 'GET',
    path: '/api/artifacts/{artifact_id}/content',
    credential: 'person',
    reach: 'its_people',
    tag: 'artifacts',
    summary: 'The bytes of an artifact that is in the store of Forge',
    params: artifactInPath,
    response: bytes,
    refusals: ['not_found', 'conflict', 'gone', 'range_not_satisfiable', 'backend_failed'],
    async handle({ caller, params, ctx }) {
      const row = await findArtifact(contents.reads, caller, params.artifact_id)
      await sendContent(contents, ctx, storedOf(row))
    },
  }),
  route({
    method: 'GET',
    path: '/api/artifacts/{artifact_id}/download-url',
    credential: 'person',
    reach: 'its_people',
    tag: 'artifacts',
    summary:
      'An address from which the bytes of an artifact can be fetched for 15 minutes, without a token',
    params: artifactInPath,
    response: downloadAddress,
    refusals: ['not_found', 'conflict', 'gone'],
    async handle({ caller, params }) {
      const { key, now, baseUrl, reads } = contents
      const row = await findArtifact(reads, caller, params.artifact_id)
      const stored = storedOf(row)
      const expires = new Date(now().getTime() + addressMs)
      const query = new URLSearchParams(signedDownload(key, stored, expires))
      return {
        method: 'GET',
        url: `${baseUrl()}${downloadPath(stored.artifact_id)}?${query}`,
        expires_at: toTimestamp(expires),
        filename: stored.filename,
        size_bytes: row.size_bytes,
        sha256: stored.sha256,
      }
    },
  }),
  route({
    method: 'GET',
    path: '/api/downloads/{artifact_id}',
    credential: 'none',
    tag: 'artifacts',
    summary: 'The bytes of an artifact, from an address that was given out for it',
    params: artifactInPath,
    query: downloadSignature,
    response: bytes,
    refusals: ['forbidden', 'gone', 'range_not_satisfiable', 'backend_failed'],
    async handle({ params: { artifact_id }, query, ctx }) {
      const verdict = judgeDownload(contents.key, artifact_id, query, contents.now())
      if (verdict !== 'valid')
        throw new Refusal(
          'forbidden',
          verdict === 'expired'
            ? 'The address has expired; ask for another one'
            : 'The signature of the address is not valid; use it exactly as issued',
          { code: `artifact.address_${verdict}` },
        )
      await refuseIfDeleted(contents, artifact_id)
      await sendContent(contents, ctx, query)
    },
  }),
]

type Stored = { artifact_id: string; sha256: string; filename: string }

function storedOf(row: ArtifactRow): Stored {
  const { artifact_id, path, sha256 } = row
  refuseDeleted(row)
  if (!isInStore(path) || sha256 === null)
    throw new Refusal('conflict', `The artifact is not in Forge's store; it is at ${path}`, {
      code: 'artifact.not_stored',
      data: { path },
    })
  return { artifact_id, sha256, filename: storedName(path) ?? artifact_id }
}

type Fate = Pick<ArtifactRow, 'artifact_id' | 'status' | 'deleted_at' | 'deleted_by'>

function refuseDeleted({ artifact_id, status, deleted_at, deleted_by }: Fate): void {
  if (status !== 'deleting' && status !== 'deleted') return
  const at = deleted_at === null ? '' : ` at ${toTimestamp(deleted_at)}`
  const who = deleted_by === 'keep_rules' ? 'the rules of its job (checkpoints.keep)' : deleted_by
  throw new Refusal('gone', `The artifact ${artifact_id} was deleted${at} by ${who}`, {
    code: 'artifact.deleted',
    data: { deleted_at: deleted_at && toTimestamp(deleted_at), deleted_by },
  })
}

/** The signature proves that the address was issued by us; it does not identify the caller. */
async function refuseIfDeleted({ reads }: Contents, artifact_id: string): Promise<void> {
  const row = await reads
    .as({ username: '', role: 'admin' })
    .selectFrom('artifacts')
    .select(['artifact_id', 'status', 'deleted_at', 'deleted_by'])
    .where('artifact_id', '=', artifact_id)
    .executeTakeFirst()
  if (row) refuseDeleted(row)
}

/** Responds with a file of the store. */
export async function sendContent(
  { store }: Pick<Contents, 'store'>,
  ctx: Context,
  { sha256, filename }: Pick<Stored, 'sha256' | 'filename'>,
): Promise<void> {
  const size = await store.sizeOf(sha256)
  const read = (range: Range | null) => store.read(sha256, range)
  const isSent =
    size !== null && (await sendFile(ctx, { size, read, filename, etag: `"${sha256}"` }))
  if (!isSent)
    throw new Refusal('backend_failed', "Forge's store has lost the file of this artifact", {
      code: 'artifact.lost',
      hint: 'With several hosts, check that they share one store',
    })
}
