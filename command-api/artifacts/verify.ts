import { type ArtifactFacts, artifactAt } from '../../events/artifacts.ts'
import { contentOf } from '../../platform/objects/contents.ts'
import { isInStore } from '../../schemas/artifacts/in-store.ts'
import type { Deps } from '../deps.ts'
import { decided, type Outcome, rows } from '../effects/outcome.ts'
import { reactor } from '../effects/reactor.ts'
import { findInStore, missInStore } from './decide.ts'

type Looked = Pick<ArtifactFacts, 'artifact_id' | 'run_id' | 'path'> & {
  size_bytes: number
  sha256: string
}

/** Reads each artifact in the store in full once it is registered. */
export const artifactVerifier = reactor<Looked, Pick<Deps, 'artifacts'>>({
  name: 'verify-artifacts',
  repeat: 'local',
  deadlineMs: 600_000,
  atOnce: 1,
  dutiesOf(event) {
    if (event.type !== 'artifact.registered') return []
    const { artifact_id, run_id, path, size_bytes, sha256 } = event.data
    if (!isInStore(path) || size_bytes === null || sha256 === null) return []
    return [{ payload: { artifact_id, run_id, path, size_bytes, sha256 } }]
  },
  async perform({ payload }, { artifacts }, signal): Promise<Outcome> {
    const reason = faultOf(payload, await contentOf(artifacts, payload.sha256, signal))
    const { path, ...verified } = payload
    const { artifact_id, run_id, sha256 } = payload
    const isMissing = reason !== null
    return [
      decided(artifactAt(artifact_id), {
        decide: artifact =>
          isMissing
            ? missInStore(artifact, { artifact_id, run_id, path, reason }, sha256)
            : findInStore(artifact, verified),
      }),
      rows(tx =>
        tx.query(
          `update write.artifact set is_missing = $2, is_verified = not $2 and sha256 = $3
            where artifact_id = $1`,
          [artifact_id, isMissing, sha256],
        ),
      ),
    ]
  },
})

function faultOf(
  { size_bytes, sha256 }: Looked,
  found: { size: number; sha256: string } | null,
): string | null {
  if (found === null) return 'its file is not in the store'
  if (found.size !== size_bytes) return `its file has ${found.size} bytes, not ${size_bytes}`
  return found.sha256 === sha256 ? null : `its file has the SHA-256 ${found.sha256}, not ${sha256}`
}
