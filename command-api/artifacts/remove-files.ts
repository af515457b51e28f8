import { type ArtifactDeleted, artifactAt } from '../../events/artifacts.ts'
import { takeLocks } from '../commit/stream-locks.ts'
import type { Deps } from '../deps.ts'
import { decided, type Outcome } from '../effects/outcome.ts'
import { reactor } from '../effects/reactor.ts'
import { contentLock } from '../rules/content-lock.ts'
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
  // Removing a file again does nothing, and sharing is checked each time.
  repeat: 'ask first',
  // A store may be unavailable for a day.
  attempts: 40,
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

type Stores = Pick<Deps, 'store' | 'artifacts'>

async function removeBytes(deps: Stores, removal: Removal): Promise<'removed' | 'shared'> {
  if (await isUploadShared(deps, removal)) return 'shared'
  return (await removeUnlessShared(deps, removal)) ? 'removed' : 'shared'
}

/** Forgets the upload unless another artifact names it. */
const isUploadShared = ({ store }: Stores, { upload_id }: Removal): Promise<boolean> =>
  store.transaction(async tx => {
    await tx.query('select from write.upload where upload_id = $1 for update', [upload_id])
    // A separate statement, so that it sees registrations made while the lock was awaited.
    const { rowCount } = await tx.query(
      'select from write.artifact where upload_id = $1 and deleted_at is null limit 1',
      [upload_id],
    )
    if (rowCount) return true
    await tx.query('delete from write.upload where upload_id = $1', [upload_id])
    return false
  })

/**
 * Runs under the lock that registering the same content takes. Its transaction writes nothing: the relay waits for writers (ADR
 * 2), and the store may be slow.
 */
const removeUnlessShared = ({ store, artifacts }: Stores, { sha256 }: Removal): Promise<boolean> =>
  store.transaction(async tx => {
    await takeLocks(tx, [contentLock(sha256)])
    const { rowCount } = await tx.query(
      'select from write.upload where sha256 = $1 and completed_at is not null limit 1',
      [sha256],
    )
    if (rowCount) return false
    await artifacts.removeContent(sha256)
    return true
  })
