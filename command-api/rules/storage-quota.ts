import type { Pool } from 'pg'
import { Refusal } from '../../platform/refusal.ts'
import type { Transaction } from '../commit/event-store.ts'
import { quotaOf } from './quota-of.ts'

/** How much a person may store; null without a limit. */
export type StorageQuota = { username: string; limitBytes: number } | null

/** The quota that counts a file of this owner: a person, or a run, whose files count as its owner's. */
export async function storageQuotaOf(pool: Pool, owner: string): Promise<StorageQuota> {
  const { rows } = await pool.query<{ owner: string | null }>({
    name: 'owner_of_run',
    text: `select owner from write.resource where kind = 'run' and id = $1`,
    values: [owner],
  })
  const username = rows[0]?.owner ?? owner
  const { max_storage_gb } = await quotaOf(pool, username)
  return max_storage_gb === 0 ? null : { username, limitBytes: max_storage_gb * 1e9 }
}

/** To be locked by what adds to the storage, so that two files cannot both take the last of it. */
export const storageLocks = (quota: StorageQuota): string[] =>
  quota === null ? [] : [`storage of ${quota.username}`]

/** A file that the person adds. */
export type Added = {
  bytes: number
  /** Counted already, and not twice: the earlier form of the artifact, and the upload that it is made of. */
  instead: { artifact_id?: string; upload_id?: string | null }
}

/**
 * Throws `invalid` if the person would store more than the quota: registered artifacts of their runs,
 * uploads that no artifact has taken over, which include their datasets, models that they import, and the sizes of their volumes.
 */
export async function refuseBeyondStorage(
  tx: Transaction,
  quota: StorageQuota,
  { bytes, instead }: Added,
): Promise<void> {
  if (quota === null || bytes === 0) return
  const { username, limitBytes } = quota
  const used = await storedBy(tx, username, instead)
  if (used + bytes <= limitBytes) return
  throw new Refusal(
    'invalid',
    `${gigabytes(bytes)} more would exceed the storage quota of ${username}: ${gigabytes(used)} of ${gigabytes(limitBytes)} are used`,
    {
      code: 'quota.storage',
      data: { limit_bytes: limitBytes, used_bytes: used, requested_bytes: bytes },
      hint: 'Delete artifacts, datasets or volumes that are no longer needed, or ask an administrator for a larger quota',
    },
  )
}

async function storedBy(
  tx: Transaction,
  username: string,
  { artifact_id = '', upload_id = null }: Added['instead'],
): Promise<number> {
  const { rows } = await tx.query<{ bytes: number }>({
    name: 'stored_by',
    text: `select ((select coalesce(sum(a.size_bytes), 0)
                      from write.resource r join write.artifact a on a.artifact_id = r.id
                     where r.kind = 'artifact' and r.owner = $1 and a.deleted_at is null and a.artifact_id <> $2)
                 + (select coalesce(sum(u.size_bytes), 0) from write.upload u
                     where (u.owner = $1 or u.owner in (select id from write.resource where kind = 'run' and owner = $1))
                       and u.upload_id <> coalesce($3, '')
                       and not exists (select from write.artifact a where a.upload_id = u.upload_id and a.size_bytes is not null))
                 + (select coalesce(sum(f.size_bytes), 0)
                      from write.hub_import i join write.hub_file f using (import_id) where i.owner = $1)
                 + (select coalesce(sum(v.size_gb), 0) * 1000000000::bigint from write.volume v where v.owner = $1))::float8 as bytes`,
    values: [username, artifact_id, upload_id],
  })
  return rows[0]?.bytes ?? 0
}

const gigabytes = (bytes: number): string => `${Number((bytes / 1e9).toPrecision(4))} GB`
