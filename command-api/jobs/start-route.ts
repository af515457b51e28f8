import { type Route, route } from '../../auth/route.ts'
import type { Range } from '../../platform/http/range.ts'
import { sendFile } from '../../platform/http/send-file.ts'
import { Refusal } from '../../platform/refusal.ts'
import { startQuery, storedName } from '../../schemas/artifacts/artifacts.ts'
import { isInStore } from '../../schemas/artifacts/in-store.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'
import type { Deps } from '../deps.ts'

/**
 * The bytes from which an attempt starts, for its preparation. The token of the run gives access to the artifact that its job
 * starts from and to the checkpoint that its attempt continues from, and to nothing else.
 */
export const startRoute = (deps: Deps): Route =>
  route({
    method: 'GET',
    path: '/api/ingest/artifact/content',
    credential: 'ingest',
    tag: 'ingest',
    summary: 'The bytes of the artifact that the run starts from',
    query: startQuery,
    response: {
      mediaType: 'application/octet-stream',
      description:
        'the bytes, or with `Range: bytes=<first>-<last>` some of them (206); `ETag` is the digest',
    },
    refusals: [
      ...['forbidden', 'conflict', 'gone'],
      ...['range_not_satisfiable', 'backend_failed'],
    ] as const,
    async handle({ caller, query, ctx }) {
      await deps.reports.admit({ caller, body: query, ctx })
      const { sha256, filename } = await startOf(deps, caller.runId, query.artifact_id)
      const size = await deps.artifacts.sizeOf(sha256)
      const read = (range: Range | null) => deps.artifacts.read(sha256, range)
      const file = { size: size ?? 0, read, filename, etag: `"${sha256}"` }
      if (size === null || !(await sendFile(ctx, file)))
        throw new Refusal('backend_failed', "Forge's store has lost the file of this artifact", {
          code: 'artifact.lost',
          hint: 'With several hosts, check that they share one store',
        })
    },
  })

async function startOf({ pool }: Deps, run_id: string, artifact_id: string) {
  const { rows } = await pool.query<{
    path: string
    sha256: string | null
    deleted_at: Date | null
  }>({
    name: 'start_of_run',
    text: `select a.path, a.sha256, a.deleted_at
             from write.job_state j join write.artifact a on a.artifact_id in (j.init_from, j.resume_from)
            where j.run_id = $1 and a.artifact_id = $2`,
    values: [run_id, artifact_id],
  })
  const [row] = rows
  if (!row)
    throw new Refusal('conflict', `The run does not start from ${artifact_id}`, {
      code: 'artifact.other_start',
    })
  const { path, sha256, deleted_at } = row
  if (deleted_at !== null)
    throw new Refusal(
      'gone',
      `The artifact ${artifact_id} was deleted at ${toTimestamp(deleted_at)}`,
      { code: 'artifact.deleted' },
    )
  if (!isInStore(path) || sha256 === null)
    throw new Refusal('conflict', `The artifact is not in Forge's store; it is at ${path}`, {
      code: 'artifact.not_stored',
      data: { path },
    })
  return { sha256, filename: storedName(path) ?? artifact_id }
}
