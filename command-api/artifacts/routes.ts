import { type Route, route } from '../../auth/route.ts'
import { type ArtifactFacts, artifactAt } from '../../events/artifacts.ts'
import { Refusal } from '../../platform/refusal.ts'
import {
  type ArtifactInput,
  artifactInput,
  artifactReply,
  isAddress,
} from '../../schemas/artifacts/artifacts.ts'
import { isInStore } from '../../schemas/artifacts/in-store.ts'
import {
  type ArtifactUploadQuery,
  artifactUploadQuery,
  uploadTarget,
} from '../../schemas/uploads.ts'
import type { Asked, HttpAsked } from '../commit/asked.ts'
import { commit } from '../commit/commit.ts'
import type { Transaction } from '../commit/event-store.ts'
import type { Deps } from '../deps.ts'
import { refuseBeyondStorage, storageLocks, storageQuotaOf } from '../rules/storage-quota.ts'
import { registerArtifact } from './decide.ts'
import { deleteArtifactRoute } from './delete-route.ts'
import { retentionRoute } from './retention-route.ts'

/** Maximum registrations per run, including changes of an artifact's facts: each is an event. */
const maxPerRun = 10_000

/** Files that running code puts into Forge's store. */
export type ArtifactUploads = {
  announce(
    request: HttpAsked,
    announced: Announced & { parts?: number | null },
    run_id: string,
  ): Promise<object>
  complete(request: HttpAsked, of: { run_id: string; upload_id: string }): Promise<Stored>
}
type Announced = Pick<ArtifactUploadQuery, 'filename' | 'size_bytes' | 'content_type'> & {
  sha256: string | null
}
/** The content of an upload, under its path. */
type Stored = Pick<ArtifactFacts, 'path'> & { size_bytes: number; sha256: string }

export const artifactRoutes = (deps: Deps, uploads: ArtifactUploads): Route[] => [
  route({
    method: 'GET',
    path: '/api/ingest/artifact/upload-url',
    credential: 'ingest',
    tag: 'ingest',
    summary: 'Ask for an address to send an artifact to, before it is registered',
    query: artifactUploadQuery,
    response: uploadTarget,
    refusals: ['forbidden', 'invalid', 'conflict', 'too_large'],
    async handle(request) {
      const { caller, query, ctx } = request
      await deps.reports.admit({ caller, body: query, ctx })
      const { filename, size_bytes, content_type, sha256 = null, parts = null } = query
      const announced = { filename, size_bytes, content_type, sha256, parts }
      return uploads.announce(request, announced, caller.runId)
    },
  }),
  route({
    method: 'POST',
    path: '/api/ingest/artifact',
    credential: 'ingest',
    tag: 'ingest',
    summary: 'Register an output of the training code',
    body: artifactInput,
    bodyLimitBytes: 64 * 1024,
    response: artifactReply,
    refusals: ['forbidden', 'invalid', 'conflict'],
    async handle(request) {
      const { source } = await deps.reports.admit(request)
      const body = await storedIn(uploads, request)
      if (source === 'job') await refusePathInContainer(deps, body)
      return { ok: true, ...(await register(deps, request, body)), status: 'registered' }
    },
  }),
  deleteArtifactRoute(deps),
  retentionRoute(deps),
]

/** Registers an artifact of an admitted report; may be repeated. */
export async function register(deps: Deps, asked: Asked, artifact: ArtifactInput) {
  const quota = await storageQuotaOf(deps.pool, artifact.run_id)
  const { artifact_id, created } = await takeId(deps, artifact)
  const { upload_id = null, size_bytes } = artifact
  const added = { bytes: size_bytes ?? 0, instead: { artifact_id, upload_id } }
  await commit(deps, asked, artifactAt(artifact_id), {
    locks: storageLocks(quota),
    decide: state => registerArtifact(state, toFacts(artifact, artifact_id)),
    async alongside(tx) {
      await refuseBeyondStorage(tx, quota, added)
      await countRegistration(tx, artifact.run_id)
      await noteRegistered(tx, toFacts(artifact, artifact_id))
    },
  })
  return { artifact_id, created }
}

/** With an `upload_id`, the size and the digest are those of the bytes that arrived. */
async function storedIn(
  uploads: ArtifactUploads,
  request: HttpAsked & { body: ArtifactInput },
): Promise<ArtifactInput> {
  const { body } = request
  const { run_id, path, upload_id } = body
  if (!upload_id) {
    if (isInStore(path))
      throw new Refusal(
        'invalid',
        `${path} must be registered with the upload_id it was uploaded under`,
        {
          code: 'artifact.no_upload',
        },
      )
    return body
  }
  const stored = await uploads.complete(request, { run_id, upload_id })
  const differs = (['path', 'size_bytes', 'sha256'] as const).find(
    name => (body[name] ?? stored[name]) !== stored[name],
  )
  if (differs)
    throw new Refusal(
      'invalid',
      `${upload_id} has the ${differs} ${stored[differs]}, not ${body[differs]}`,
      { code: 'artifact.other_upload' },
    )
  return { ...body, ...stored }
}

/** A container has its own files, which disappear with it. */
async function refusePathInContainer({ pool }: Deps, { run_id, path }: ArtifactInput) {
  if (isAddress(path)) return
  const { rowCount } = await pool.query(
    `select from write.job_state j join write.profile p on p.name = j.profile
      where j.run_id = $1 and p.container`,
    [run_id],
  )
  if (rowCount)
    throw new Refusal(
      'invalid',
      `${path} is a path inside a container, which nobody else can read; send the address of an object, such as s3://bucket/key`,
      {
        code: 'artifact.local_path',
        hint: 'GET /api/ingest/artifact/upload-url returns an address to send the file to, and the path to register',
      },
    )
}

/**
 * The id for this kind, path and step of the run: assigned once, then found again. If the server dies before the
 * artifact is registered, a repeated request finds the id.
 */
const takeId = (deps: Deps, body: ArtifactInput) =>
  deps.store.transaction(async tx => {
    const { run_id, kind, path, format, upload_id = null } = body
    const step = body.step ?? -1
    const artifact_id = deps.newId('art')
    if (upload_id !== null) await holdUpload(tx, upload_id)
    const { rowCount } = await tx.query(
      `insert into write.artifact (artifact_id, run_id, kind, path, step, format, upload_id)
       select $1, $2, $3, $4, $5, $6, $8
        where (select artifact_registrations from write.run_state where run_id = $2) < $7
       on conflict do nothing`,
      [artifact_id, run_id, kind, path, step, format, maxPerRun, upload_id],
    )
    if (rowCount === 1) return { artifact_id, created: true }
    return { artifact_id: await knownId(tx, body, step), created: false }
  })

/** The last artifact that named the upload may just have been deleted. */
async function holdUpload(tx: Transaction, upload_id: string): Promise<void> {
  const { rowCount } = await tx.query(
    'select from write.upload where upload_id = $1 for key share',
    [upload_id],
  )
  if (rowCount === 0)
    throw new Refusal('conflict', `${upload_id} was deleted; send the file again`, {
      code: 'artifact.no_upload',
      hint: 'GET /api/ingest/artifact/upload-url returns an address to send it to',
    })
}

async function knownId(tx: Transaction, body: ArtifactInput, step: number): Promise<string> {
  const { rows } = await tx.query(
    'select artifact_id from write.artifact where run_id = $1 and kind = $2 and path = $3 and step = $4',
    [body.run_id, body.kind, body.path, step],
  )
  if (!rows[0]) throw tooMany()
  return rows[0].artifact_id
}

/** The row that retention rules use. A deleted artifact that is rewritten exists again. */
const noteRegistered = (tx: Transaction, facts: ArtifactFacts) =>
  tx.query(
    `update write.artifact
        set metrics = $2, size_bytes = $3, sha256 = $4, is_verified = false, deleted_at = null
      where artifact_id = $1`,
    [facts.artifact_id, JSON.stringify(facts.metrics), facts.size_bytes, facts.sha256],
  )

async function countRegistration(tx: Transaction, run_id: string): Promise<void> {
  const { rowCount } = await tx.query(
    `update write.run_state set artifact_registrations = artifact_registrations + 1
      where run_id = $1 and artifact_registrations < $2`,
    [run_id, maxPerRun],
  )
  if (rowCount === 0) throw tooMany()
}

const tooMany = () =>
  new Refusal(
    'conflict',
    `The run has already made ${maxPerRun} artifact registrations, the maximum`,
    { code: 'artifact.too_many' },
  )

const toFacts = (body: ArtifactInput, artifact_id: string): ArtifactFacts => ({
  artifact_id,
  run_id: body.run_id,
  kind: body.kind,
  path: body.path,
  format: body.format,
  step: body.step ?? null,
  size_bytes: body.size_bytes ?? null,
  sha256: body.sha256 ?? null,
  metrics: body.metrics ?? {},
  attempt: body.attempt ?? null,
})
