import { type Static, Type } from 'typebox'
import { artifactFacts, fatesOfBytes } from '../schemas/artifacts/artifacts.ts'
import { nullable, oneOf } from '../schemas/shared.ts'
import { aggregate, type EventOf, event } from './event.ts'

const artifactOfRun = {
  artifact_id: Type.String(),
  run_id: Type.String(),
  path: Type.String(),
}

/** Running code registered an artifact, or changed the facts of one (same kind, path and step). */
export const artifactRegistered = event(
  'artifact.registered',
  Type.Object(artifactFacts),
  ({ kind, path, run_id }, who) => `${who} registered the ${kind} ${path} of run ${run_id}`,
)

/** The store has the artifact with this size and digest; it was read in full. */
export const artifactVerified = event(
  'artifact.verified',
  Type.Object({
    artifact_id: Type.String(),
    run_id: Type.String(),
    size_bytes: Type.Integer({ minimum: 0 }),
    sha256: Type.String(),
  }),
  ({ artifact_id, size_bytes, run_id }) =>
    `the artifact ${artifact_id} of run ${run_id} was verified (${size_bytes} bytes)`,
)

/** The store does not have the artifact, or has other bytes. */
export const artifactMissing = event(
  'artifact.missing',
  Type.Object({ ...artifactOfRun, reason: Type.String() }),
  ({ artifact_id, run_id, reason }) =>
    `the artifact ${artifact_id} of run ${run_id} is missing: ${reason}`,
)

/** From now on nothing starts from the artifact; `artifact.deleted` follows once its bytes are dealt with. */
export const artifactDeletionRequested = event(
  'artifact.deletion_requested',
  Type.Object({
    ...artifactOfRun,
    /** Where the store keeps its bytes; null if they are stored elsewhere. */
    upload_id: nullable(Type.String()),
    sha256: nullable(Type.String()),
    /** `keep_rules`: of its job; `retention`: an administrator's. */
    reason: oneOf('asked', 'keep_rules', 'retention'),
  }),
  ({ artifact_id, path, run_id }, who) =>
    `${who} deleted the artifact ${artifact_id} (${path}) of run ${run_id}`,
)

/** The artifact is deleted. So are its bytes, unless another artifact shares them or they are stored elsewhere. */
export const artifactDeleted = event(
  'artifact.deleted',
  Type.Object({ ...artifactOfRun, bytes: oneOf(...fatesOfBytes) }),
  ({ artifact_id, run_id, bytes }) =>
    `the artifact ${artifact_id} of run ${run_id} is gone; ${wordsOfFate[bytes]}`,
)

const wordsOfFate = {
  removed: 'its bytes were removed from the store',
  shared: 'its bytes stay, because another artifact shares them',
  left: 'its bytes were left where they lie',
}

const events = [
  artifactRegistered,
  artifactVerified,
  artifactMissing,
  artifactDeletionRequested,
  artifactDeleted,
] as const
export type ArtifactEvent = EventOf<(typeof events)[number]>
export type ArtifactFacts = Static<typeof artifactRegistered.data>
export type ArtifactVerified = Static<typeof artifactVerified.data>
export type ArtifactMissing = Static<typeof artifactMissing.data>
export type DeletionRequested = Static<typeof artifactDeletionRequested.data>
export type ArtifactDeleted = Static<typeof artifactDeleted.data>

/** Null before registration. */
export type Artifact =
  | (ArtifactFacts & { status: 'registered' | 'verified' | 'missing' | 'deleting' | 'deleted' })
  | null

function evolve(artifact: Artifact, event: ArtifactEvent): Artifact {
  switch (event.type) {
    case 'artifact.registered':
      return { ...event.data, status: 'registered' }
    case 'artifact.verified':
      return artifact && { ...artifact, status: 'verified' }
    case 'artifact.missing':
      return artifact && { ...artifact, status: 'missing' }
    case 'artifact.deletion_requested':
      return artifact && { ...artifact, status: 'deleting' }
    case 'artifact.deleted':
      return artifact && { ...artifact, status: 'deleted' }
  }
}

export const artifacts = aggregate('artifact', {
  events,
  initial: null,
  evolve,
  snapshot: { shape: 2 },
})
export const artifactAt = (artifactId: string) => artifacts.at(artifactId)
