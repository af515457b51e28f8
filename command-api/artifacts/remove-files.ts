import { type ArtifactDeleted, artifactAt } from '../../events/artifacts.ts'
import { contentLock } from '../content-lock.ts'
import type { Deps } from '../deps.ts'
import { decided, type Outcome } from '../outcome.ts'
import { reactor } from '../reactor.ts'
import { takeLocks } from '../stream-locks.ts'
import { finishDeletion } from './decide.ts'

type Removal = {
  artifact_id: string
  run_id: string
  path: string
  upload_id: string
  sha256: string
}

/** Removes the bytes of deleted artifacts from the store, unless others share them. */
export const artifactRemover = reactor<Removal, Pick<Deps, 'store' | 'artifacts'>>({
  name: 'remove-artifacts',
  // What is gone already is removed once more, and who shares it is looked up each time.
  repeat: 'ask first',
  dutiesOf(event) {
    if (event.type !== 'artifact.deletion_requested') return []
    const { artifact_id, run_id, path, upload_id, sha256 } = event.data
    if (upload_id === null || sha256 === null) return []
    return [{ payload: { artifact_id, run_id, path, upload_id, sha256 } }]
  },
  async perform({ payload }, deps): Promise<Outcome> {
    const bytes = await removeBytes(deps, payload)
    const { artifact_id, run_id, path } = payload
    const data: ArtifactDeleted = { artifact_id, run_id, path, bytes }
    return [
      decided(artifactAt(artifact_id), { decide: artifact => finishDeletion(artifact, data) }),
    ]
  },
})

/** Under the lock of those who register the same content meanwhile; if it fails midway, the upload is still there. */
const removeBytes = (
  { store, artifacts }: Pick<Deps, 'store' | 'artifacts'>,
  { upload_id, sha256 }: Removal,
): Promise<'removed' | 'shared'> =>
  store.transaction(async tx => {
    await takeLocks(tx, [contentLock(sha256)])
    await tx.query('select from write.upload where upload_id = $1 for update', [upload_id])
    // In a statement of its own: it sees who registered while this one waited for the row.
    const { rowCount: sharing } = await tx.query(
      'select from write.artifact where upload_id = $1 and deleted_at is null limit 1',
      [upload_id],
    )
    if (sharing) return 'shared'
    await tx.query('delete from write.upload where upload_id = $1', [upload_id])
    const { rowCount: same } = await tx.query(
      'select from write.upload where sha256 = $1 and completed_at is not null limit 1',
      [sha256],
    )
    if (same) return 'shared'
    await artifacts.removeContent(sha256)
    return 'removed'
  })
