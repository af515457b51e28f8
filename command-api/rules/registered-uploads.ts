import type { Pool } from 'pg'
import type { UploadPurpose } from '../../schemas/uploads.ts'
import type { Transaction } from '../commit/event-store.ts'

export type Uploaded = { upload_id: string; sha256: string; size_bytes: number }

/**
 * The registered files of this person with these ids. Marks them as used now: the deletion of unused uploads waits for this
 * transaction and then leaves them.
 */
export async function takeUploads(
  db: Pool | Transaction,
  ids: readonly string[],
  { owner, purpose, now }: { owner: string; purpose: UploadPurpose; now: Date },
): Promise<Uploaded[]> {
  const { rows } = await db.query<Uploaded>({
    name: 'take_uploads',
    text: `update write.upload set used_at = $4
            where upload_id = any($1) and owner = $2 and purpose = $3 and completed_at is not null
           returning upload_id, sha256, size_bytes::float8 as size_bytes`,
    values: [ids, owner, purpose, now],
  })
  return rows
}
