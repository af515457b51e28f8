import type { StoredArtifact } from '../port.ts'

/** The artifact cannot be had; repeating would not help, or was repeated for long enough. */
export class NotFetched extends Error {
  constructor({ artifact_id, path }: StoredArtifact, why: string) {
    super(`the run cannot start from ${artifact_id} (${path}): ${why}`)
    this.name = 'NotFetched'
  }
}
