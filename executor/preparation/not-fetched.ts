import type { StoredArtifact } from '../port.ts'

/** The artifact cannot be fetched, and retrying would not help or has gone on for long enough. */
export class NotFetched extends Error {
  constructor({ artifact_id, path }: StoredArtifact, why: string) {
    super(`the run cannot start from ${artifact_id} (${path}): ${why}`)
    this.name = 'NotFetched'
  }
}
