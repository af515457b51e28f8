import type {
  Artifact,
  ArtifactEvent,
  ArtifactFacts,
  ArtifactMissing,
  ArtifactVerified,
} from '../../events/artifacts.ts'

/** Idempotent: repeating it with the same facts appends no event, unless the store had lost it. */
export function registerArtifact(artifact: Artifact, facts: ArtifactFacts): ArtifactEvent[] {
  return artifact !== null && artifact.status !== 'missing' && isSame(artifact, facts)
    ? []
    : [{ type: 'artifact.registered', data: facts }]
}

/** What was found in the store counts for the digest that was looked for, not for one registered since. */
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
