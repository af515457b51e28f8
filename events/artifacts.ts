import { type Static, Type } from 'typebox'
import { artifactFacts } from '../schemas/artifacts.ts'
import { aggregate, type EventOf, event } from './event.ts'

/** Running code registered an artifact, or changed the facts of one (same kind, path and step). */
export const artifactRegistered = event(
  'artifact.registered',
  Type.Object(artifactFacts),
  ({ kind, path, run_id }, who) => `${who} registered the ${kind} ${path} of run ${run_id}`,
)

/** The store has the artifact with this size and digest; it was read whole. */
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
  Type.Object({
    artifact_id: Type.String(),
    run_id: Type.String(),
    path: Type.String(),
    reason: Type.String(),
  }),
  ({ artifact_id, run_id, reason }) =>
    `the artifact ${artifact_id} of run ${run_id} is missing: ${reason}`,
)

const events = [artifactRegistered, artifactVerified, artifactMissing] as const
export type ArtifactEvent = EventOf<(typeof events)[number]>
export type ArtifactFacts = Static<typeof artifactRegistered.data>
export type ArtifactVerified = Static<typeof artifactVerified.data>
export type ArtifactMissing = Static<typeof artifactMissing.data>

/** Null before registration. */
export type Artifact = (ArtifactFacts & { status: 'registered' | 'verified' | 'missing' }) | null

function evolve(artifact: Artifact, event: ArtifactEvent): Artifact {
  switch (event.type) {
    case 'artifact.registered':
      return { ...event.data, status: 'registered' }
    case 'artifact.verified':
      return artifact && { ...artifact, status: 'verified' }
    case 'artifact.missing':
      return artifact && { ...artifact, status: 'missing' }
  }
}

export const artifacts = aggregate('artifact', {
  events,
  initial: null,
  evolve,
  snapshot: { shape: 2 },
})
export const artifactAt = (artifactId: string) => artifacts.at(artifactId)
