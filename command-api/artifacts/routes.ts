import { type Route, route } from '../../auth/route.ts'
import { type ArtifactFacts, artifactAt } from '../../events/artifacts.ts'
import { Refusal } from '../../platform/refusal.ts'
import { type ArtifactInput, artifactInput, artifactReply } from '../../schemas/artifacts.ts'
import { commit } from '../commit.ts'
import type { Deps } from '../deps.ts'
import type { Transaction } from '../event-store.ts'
import { registerArtifact } from './decide.ts'

/** Registrations of one run, those that change an artifact's facts included: each is an event. */
const maxPerRun = 10_000

export const artifactRoutes = (deps: Deps): Route[] => [
  route({
    method: 'POST',
    path: '/api/ingest/artifact',
    credential: 'ingest',
    tag: 'ingest',
    summary: 'Register something the training code wrote',
    body: artifactInput,
    bodyLimitBytes: 64 * 1024,
    response: artifactReply,
    refusals: ['forbidden', 'invalid', 'conflict'],
    async handle(request) {
      await deps.reports.admit(request)
      const { body } = request
      if (body.upload_id)
        throw new Refusal('invalid', `No such upload: ${body.upload_id}`, {
          code: 'artifact.no_upload',
        })
      const { artifact_id, created } = await takeId(deps, body)
      await commit(deps, request, artifactAt(artifact_id), {
        decide: artifact => registerArtifact(artifact, toFacts(body, artifact_id)),
        alongside: tx => countRegistration(tx, body.run_id),
      })
      return { ok: true, artifact_id, created, status: 'registered' }
    },
  }),
]

/**
 * The id for this kind, path and step of the run: assigned once, then found again. If the server dies before the
 * artifact is registered, a repeated request finds the id.
 */
const takeId = (deps: Deps, body: ArtifactInput) =>
  deps.store.transaction(async tx => {
    const { run_id, kind, path, format } = body
    const step = body.step ?? -1
    const artifact_id = deps.newId('art')
    const { rowCount } = await tx.query(
      `insert into write.artifact (artifact_id, run_id, kind, path, step, format)
       select $1, $2, $3, $4, $5, $6
        where (select artifact_registrations from write.run_state where run_id = $2) < $7
       on conflict do nothing`,
      [artifact_id, run_id, kind, path, step, format, maxPerRun],
    )
    if (rowCount === 1) return { artifact_id, created: true }
    return { artifact_id: await knownId(tx, body, step), created: false }
  })

async function knownId(tx: Transaction, body: ArtifactInput, step: number): Promise<string> {
  const { rows } = await tx.query(
    'select artifact_id from write.artifact where run_id = $1 and kind = $2 and path = $3 and step = $4',
    [body.run_id, body.kind, body.path, step],
  )
  if (!rows[0]) throw tooMany()
  return rows[0].artifact_id
}

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
    `The run has already made ${maxPerRun} registrations of artifacts, the maximum`,
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
