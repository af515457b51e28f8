import { type Static, Type } from 'typebox'
import { artifactFacts } from '../schemas/artifacts.ts'
import { aggregate, type EventOf, event } from './event.ts'

/** Running code registered an artifact, or changed the facts of one (same kind, path and step). */
export const artifactRegistered = event(
  'artifact.registered',
  Type.Object(artifactFacts),
  ({ kind, path, run_id }, who) => `${who} registered the ${kind} ${path} of run ${run_id}`,
)

export type ArtifactEvent = EventOf<typeof artifactRegistered>
export type ArtifactFacts = Static<typeof artifactRegistered.data>

/** Null before registration. */
export type Artifact = ArtifactFacts | null

function evolve(_: Artifact, event: ArtifactEvent): Artifact {
  switch (event.type) {
    case 'artifact.registered':
      return event.data
  }
}

export const artifacts = aggregate('artifact', {
  events: [artifactRegistered],
  initial: null,
  evolve,
  snapshot: { shape: 1 },
})
export const artifactAt = (artifactId: string) => artifacts.at(artifactId)
