import { Refusal } from '../../platform/refusal.ts'
import type { HttpAsked } from '../commit/asked.ts'
import type { Deps } from '../deps.ts'
import { type Announced, announce, nameOfBytes } from './announce.ts'
import { complete, expandedBytes } from './complete.ts'
import { findUpload } from './rows.ts'

/** Maximum unregistered uploads of one run. */
const maxPending = 100
const gibibyte = 1024 ** 3

/** Uploads that belong to a run. */
export const uploadsOfRuns = (deps: Deps) => ({
  announce: (
    request: HttpAsked,
    {
      parts = null,
      ...announced
    }: Omit<Announced, 'owner' | 'purpose'> & {
      parts?: number | null
    },
    run_id: string,
  ) =>
    announce(
      deps,
      request,
      { ...announced, owner: run_id, purpose: 'artifact' },
      {
        bytes: expandedBytes(deps.config),
        heldBytes: deps.config.runArtifactsGb * gibibyte,
        pending: maxPending,
        parts,
      },
    ),

  /** Registers the received bytes and returns their description. Idempotent. */
  async complete(request: HttpAsked, { run_id, upload_id }: { run_id: string; upload_id: string }) {
    const upload = await findUpload(deps.pool, upload_id)
    if (upload?.owner !== run_id || upload.purpose !== 'artifact')
      throw new Refusal('invalid', `No such upload of this run: ${upload_id}`, {
        code: 'artifact.no_upload',
        hint: 'Ask for one with GET /api/ingest/artifact/upload-url; uploads that are not registered within 24 h are deleted',
      })
    const sha256 = await complete(deps, request, upload)
    return { path: nameOfBytes(upload), size_bytes: upload.size_bytes, sha256 }
  },
})
