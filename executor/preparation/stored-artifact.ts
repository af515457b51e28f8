/** An artifact in the store of Forge from which an attempt starts; no secret. */
export type StoredArtifact = {
  artifact_id: string
  /** Its name in the store, for people. */
  path: string
  /** What to call it on this machine: the name of a file, not a path. */
  filename: string
  sha256: string
  size_bytes: number
}

/** The artifact cannot be had; repeating would not help, or was repeated for long enough. */
export class NotFetched extends Error {
  constructor({ artifact_id, path }: StoredArtifact, why: string) {
    super(`the run cannot start from ${artifact_id} (${path}): ${why}`)
    this.name = 'NotFetched'
  }
}
