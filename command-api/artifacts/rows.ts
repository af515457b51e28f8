import type { Pool } from 'pg'
import type { DeletionRequested } from '../../events/artifacts.ts'
import type { Transaction } from '../commit/event-store.ts'
import type { KnownCheckpoint } from './keep.ts'

export type ArtifactRow = {
  artifact_id: string
  run_id: string
  path: string
  upload_id: string | null
  sha256: string | null
  deleted_at: Date | null
}

export async function findArtifact(
  pool: Pool,
  artifact_id: string,
): Promise<ArtifactRow | undefined> {
  const { rows } = await pool.query<ArtifactRow>(
    'select artifact_id, run_id, path, upload_id, sha256, deleted_at from write.artifact where artifact_id = $1',
    [artifact_id],
  )
  return rows[0]
}

/** Whether its bytes are in the store or elsewhere. */
export const isStored = ({ upload_id, sha256 }: Pick<ArtifactRow, 'upload_id' | 'sha256'>) =>
  upload_id !== null && sha256 !== null

/** The data of its deletion event. */
export function deletionOf(
  row: ArtifactRow,
  reason: DeletionRequested['reason'],
): DeletionRequested {
  const { artifact_id, run_id, path, upload_id, sha256 } = row
  const held = isStored(row) ? { upload_id, sha256 } : { upload_id: null, sha256: null }
  return { artifact_id, run_id, path, ...held, reason }
}

export const markDeleted = (tx: Transaction, artifact_id: string, now: Date) =>
  tx.query('update write.artifact set deleted_at = $2 where artifact_id = $1', [artifact_id, now])

/** A use that would begin meanwhile waits, and then finds them deleted (`holdResource`). */
export async function lockArtifacts(
  tx: Transaction,
  artifactIds: readonly string[],
): Promise<void> {
  await tx.query(
    'select from write.artifact where artifact_id = any($1) order by artifact_id for update',
    [artifactIds],
  )
  await tx.query(
    `select from write.resource where kind = 'artifact' and id = any($1) order by id for update`,
    [artifactIds],
  )
}

export type StoredCheckpoint = KnownCheckpoint & ArtifactRow & { size_bytes: number | null }

/** The checkpoints of a run that are not deleted or missing. */
export async function checkpointsOf(
  db: Pool | Transaction,
  run_id: string,
): Promise<StoredCheckpoint[]> {
  const { rows } = await db.query<StoredCheckpoint>({
    name: 'checkpoints_of_run',
    text: `select artifact_id, run_id, path, upload_id, sha256, deleted_at, nullif(step, -1)::float8 as step, metrics,
                  size_bytes::float8 as size_bytes, registered_at, (is_verified or upload_id is null) as "isUsable"
             from write.artifact a
            where run_id = $1 and kind = 'checkpoint' and deleted_at is null and not is_missing
              -- The id is taken before the artifact is registered.
              and exists (select from write.event e where e.stream = 'artifact-' || a.artifact_id)`,
    values: [run_id],
  })
  return rows
}

/**
 * The bytes that the store no longer needs once these artifacts are deleted, except bytes shared with another artifact or
 * upload. Null if all are still needed.
 */
export async function freedBy(
  db: Pool | Transaction,
  artifactIds: readonly string[],
): Promise<number | null> {
  const { rows } = await db.query<{ bytes: number | null }>({
    name: 'bytes_freed',
    text: `select sum(size_bytes)::float8 as bytes from (
             select max(u.size_bytes) as size_bytes from write.upload u
              where u.completed_at is not null and u.sha256 in (
                      select o.sha256 from write.artifact a join write.upload o using (upload_id)
                       where a.artifact_id = any($1))
              group by u.sha256
             having bool_and(
                      exists (select from write.artifact a where a.upload_id = u.upload_id)
                      and not exists (select from write.artifact a where a.upload_id = u.upload_id
                                         and a.deleted_at is null and a.artifact_id <> all($1)))) as content`,
    values: [artifactIds],
  })
  return rows[0]?.bytes ?? null
}

/** Called when the run is purged. */
export const deleteArtifactsOf = (tx: Transaction, run_id: string) =>
  tx.query('delete from write.artifact where run_id = $1', [run_id])
