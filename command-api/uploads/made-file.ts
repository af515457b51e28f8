import { Readable } from 'node:stream'
import type { Person } from '../../auth/caller.ts'
import type { Cause } from '../commit/asked.ts'
import type { Deps } from '../deps.ts'
import { type Announced, announce } from './announce.ts'
import { complete, expandedBytes } from './complete.ts'
import { findUpload } from './rows.ts'
import { storeFor } from './stores.ts'

const maxPending = 20

type Asking = { caller: Pick<Person, 'username' | 'via'>; requestId: string }

/**
 * Registers a file of a dataset that Forge wrote on behalf of a person, as if the person had sent it; returns the id of the upload.
 * The `Idempotency-Key` of the request is for what follows, so it does not count here.
 */
export async function registerMadeFile(
  deps: Deps,
  { caller, requestId }: Asking,
  { filename, text }: { filename: string; text: string },
): Promise<string> {
  const { username: owner, via } = caller
  const cause: Cause = { actor: { type: 'user', id: owner, via }, requestId }
  const bytes = Buffer.from(text)
  const file: Announced = {
    ...{ owner, filename, size_bytes: bytes.length, sha256: null },
    purpose: 'dataset',
    content_type: 'application/jsonl',
  }
  const { upload_id } = await announce(deps, cause, file, {
    bytes: expandedBytes(deps.config),
    heldBytes: Number.POSITIVE_INFINITY,
    pending: maxPending,
    parts: null,
  })
  await storeFor(deps, 'dataset').receive(upload_id, 0, Readable.from([bytes]))
  const upload = await findUpload(deps.pool, upload_id)
  if (!upload) throw new Error(`upload ${upload_id} was just announced and is missing`)
  await complete(deps, cause, upload)
  return upload_id
}
