import { Readable } from 'node:stream'
import { sha256Hex } from '../../platform/digest.ts'
import { maxDatasetFiles } from '../../schemas/datasets/datasets.ts'
import type { Asked } from '../commit/asked.ts'
import type { Deps } from '../deps.ts'
import { announce } from './announce.ts'
import { complete, expandedBytes } from './complete.ts'
import { anyType } from './receive.ts'
import { maxHeld } from './routes.ts'
import { findSame } from './rows.ts'
import { storeFor } from './stores.ts'

/** A file of a person, which clients name by its digest. */
export type NamedByDigest = { owner: string; sha256: string; size_bytes: number }

/** `asked` may come from an `Idempotency-Key`, which then covers the upload alone. */
type Content = { asked: Asked; owner: string; content: Buffer }

/** Files of datasets that clients name by their digests. Nobody learns from them which files of others are here. */
export const uploadsOfDatasets = (deps: Deps) => {
  const announced = (file: NamedByDigest) => ({
    ...file,
    ...{ purpose: 'dataset' as const, filename: file.sha256, content_type: anyType },
  })
  const limits = {
    bytes: expandedBytes(deps.config),
    heldBytes: maxHeld * expandedBytes(deps.config),
    // As many as one commit can add: registered ones do not count.
    pending: maxDatasetFiles,
    parts: null,
  }
  return {
    /** Where to send it; `exists`: this person has sent it before. */
    announceFile: (request: Asked, file: NamedByDigest) =>
      announce(deps, request, announced(file), limits),

    /** Registers what this person has sent; null if they were given no address for it. Idempotent. */
    async registerFile(request: Asked, file: NamedByDigest): Promise<string | null> {
      const upload = await findSame(deps.pool, announced(file), deps.now())
      if (upload === null) return null
      await complete(deps, request, upload)
      return upload.upload_id
    },

    /** Keeps what `open` reads, unless this person has sent the same before; returns the upload. */
    async keepFile(
      cause: Asked,
      file: NamedByDigest,
      open: () => Promise<Readable>,
    ): Promise<string> {
      const { upload_id, exists } = await announce(deps, cause, announced(file), limits)
      if (exists) return upload_id
      await storeFor(deps, 'dataset').receive(upload_id, 0, await open())
      await this.registerFile(cause, file)
      return upload_id
    },

    /** The same for content in memory. */
    storeFile({ asked, owner, content }: Content): Promise<string> {
      const file = { owner, sha256: sha256Hex(content), size_bytes: content.length }
      return this.keepFile(asked, file, async () => Readable.from([content]))
    },
  }
}
