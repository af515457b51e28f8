import type { Artifact, ArtifactEvent, ArtifactFacts } from '../../events/artifacts.ts'

/** Idempotent: repeating it with the same facts appends no event. */
export function registerArtifact(artifact: Artifact, facts: ArtifactFacts): ArtifactEvent[] {
  return artifact !== null && isSame(artifact, facts)
    ? []
    : [{ type: 'artifact.registered', data: facts }]
}

const isSame = (a: ArtifactFacts, b: ArtifactFacts): boolean =>
  a.format === b.format &&
  a.size_bytes === b.size_bytes &&
  a.sha256 === b.sha256 &&
  a.attempt === b.attempt &&
  Object.keys(a.metrics).length === Object.keys(b.metrics).length &&
  Object.entries(a.metrics).every(([key, value]) => b.metrics[key] === value)
