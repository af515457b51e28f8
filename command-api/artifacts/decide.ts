import type {
  Artifact,
  ArtifactDeleted,
  ArtifactEvent,
  ArtifactFacts,
  ArtifactMissing,
  ArtifactVerified,
  DeletionRequested,
} from '../../events/artifacts.ts'
import { Refusal } from '../../platform/refusal.ts'
import { isInStore } from '../../schemas/artifacts/in-store.ts'

/** Idempotent: repeating it with the same facts appends no event, unless the store had lost it or it was deleted. */
export function registerArtifact(artifact: Artifact, facts: ArtifactFacts): ArtifactEvent[] {
  if (artifact !== null && isDeleted(artifact)) refuseDeletedUpload(facts)
  const isKnown = artifact?.status === 'registered' || artifact?.status === 'verified'
  return isKnown && isSame(artifact, facts) ? [] : [{ type: 'artifact.registered', data: facts }]
}

const isDeleted = ({ status }: NonNullable<Artifact>) =>
  status === 'deleting' || status === 'deleted'

/** An artifact stored elsewhere exists again once rewritten; a name in the store never gets other bytes. */
function refuseDeletedUpload({ path }: ArtifactFacts): void {
  if (!isInStore(path)) return
  throw new Refusal('conflict', `${path} was deleted; send the file again`, {
    code: 'artifact.deleted',
    hint: 'GET /api/ingest/artifact/upload-url returns an address to send it to, and the path to register',
  })
}

/** Idempotent. Artifacts stored elsewhere are deleted at once, as far as Forge is concerned. */
export function requestDeletion(artifact: Artifact, data: DeletionRequested): ArtifactEvent[] {
  if (artifact === null || isDeleted(artifact)) return []
  const requested: ArtifactEvent = { type: 'artifact.deletion_requested', data }
  if (data.upload_id !== null) return [requested]
  const { artifact_id, run_id, path } = data
  return [
    requested,
    { type: 'artifact.deleted', data: { artifact_id, run_id, path, bytes: 'left' } },
  ]
}

export const finishDeletion = (artifact: Artifact, data: ArtifactDeleted): ArtifactEvent[] =>
  artifact?.status === 'deleting' ? [{ type: 'artifact.deleted', data }] : []

/** The store's result only applies to the digest that was checked, not to one registered since. */
export const findInStore = (artifact: Artifact, data: ArtifactVerified): ArtifactEvent[] =>
  artifact?.status === 'registered' && artifact.sha256 === data.sha256
    ? [{ type: 'artifact.verified', data }]
    : []

export const missInStore = (
  artifact: Artifact,
  data: ArtifactMissing,
  sha256: string,
): ArtifactEvent[] =>
  artifact?.status === 'registered' && artifact.sha256 === sha256
    ? [{ type: 'artifact.missing', data }]
    : []

const isSame = (a: ArtifactFacts, b: ArtifactFacts): boolean =>
  a.format === b.format &&
  a.size_bytes === b.size_bytes &&
  a.sha256 === b.sha256 &&
  a.attempt === b.attempt &&
  Object.keys(a.metrics).length === Object.keys(b.metrics).length &&
  Object.entries(a.metrics).every(([key, value]) => b.metrics[key] === value)
