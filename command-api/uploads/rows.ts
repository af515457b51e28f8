import type { Pool } from 'pg'
import type { UploadCompleted, UploadRequested } from '../../events/uploads.ts'
import type { Transaction } from '../commit/event-store.ts'

export type UploadRow = UploadRequested & {
  completed_at: Date | null
  /** The part size of a file that is sent in parts. */
  part_size: number | null
}

const columns =
  'upload_id, owner, purpose, filename, content_type, size_bytes, sha256, completed_at, part_size'

const toRow = (row: UploadRow & { size_bytes: string | number }): UploadRow => ({
  ...row,
  size_bytes: Number(row.size_bytes),
  part_size: row.part_size === null ? null : Number(row.part_size),
})

/** The first announced part size stays: some parts may already be here. */
export async function keepPartSize(
  pool: Pool,
  upload_id: string,
  part_size: number,
): Promise<number> {
  const { rows } = await pool.query<{ part_size: string | number }>(
    `update write.upload set part_size = coalesce(part_size, $2) where upload_id = $1 returning part_size`,
    [upload_id, part_size],
  )
  return Number(rows[0]?.part_size ?? part_size)
}

export async function findUpload(pool: Pool, upload_id: string): Promise<UploadRow | null> {
  const { rows } = await pool.query(`select ${columns} from write.upload where upload_id = $1`, [
    upload_id,
  ])
  return rows[0] ? toRow(rows[0]) : null
}

type Announced = Pick<UploadRequested, 'owner' | 'purpose' | 'filename' | 'size_bytes'> & {
  sha256: string
  content_type: string
}

/**
 * The same file of the same person: already registered, or begun and not finished. Uploads of other people stay invisible, and
 * so does the upload of a deleted artifact, which is about to go.
 */
export async function findSame(
  pool: Pool,
  { owner, purpose, filename, content_type, size_bytes, sha256 }: Announced,
  now: Date,
): Promise<UploadRow | null> {
  const { rows } = await pool.query(
    `update write.upload set used_at = $7
      where upload_id = (select upload_id from write.upload
                          where owner = $1 and purpose = $2 and sha256 = $3 and size_bytes = $4
                            and (completed_at is not null or (filename = $5 and content_type = $6))
                            and not exists (select from write.use u join write.resource r
                                                on r.kind = u.user_kind and r.id = u.user_id
                                             where u.used_kind = 'upload' and u.used_id = upload.upload_id
                                               and u.user_kind = 'artifact' and r.deleted_at is not null)
                          order by completed_at desc nulls last, created_at desc limit 1)
     returning ${columns}`,
    [owner, purpose, sha256, size_bytes, filename, content_type, now],
  )
  return rows[0] ? toRow(rows[0]) : null
}

/** All uploads of a person, registered or not, but for the files of datasets, which only the storage quota limits. */
export async function holdingsOf(
  tx: Transaction,
  owner: string,
): Promise<{ bytes: number; pending: number }> {
  const { rows } = await tx.query(
    `select coalesce(sum(size_bytes), 0) as bytes, count(*) filter (where completed_at is null) as pending
       from write.upload where owner = $1
        and not exists (select from write.use u where u.used_kind = 'upload' and u.used_id = upload.upload_id
                                                  and u.user_kind = 'dataset' and u.until is null)`,
    [owner],
  )
  return { bytes: Number(rows[0].bytes), pending: Number(rows[0].pending) }
}

export const insertUpload = (tx: Transaction, upload: UploadRequested, now: Date) =>
  tx.query(
    `insert into write.upload (upload_id, owner, purpose, filename, content_type, size_bytes, sha256, created_at, used_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $8)`,
    [
      upload.upload_id,
      upload.owner,
      upload.purpose,
      upload.filename,
      upload.content_type,
      upload.size_bytes,
      upload.sha256,
      now,
    ],
  )

export const markCompleted = (
  tx: Transaction,
  upload: UploadCompleted & { sensitive: readonly string[] },
  now: Date,
) =>
  tx.query(
    `update write.upload
        set completed_at = $2, used_at = $2, sha256 = $3, files = $4, expanded_bytes = $5, sensitive = $6
      where upload_id = $1`,
    [upload.upload_id, now, upload.sha256, upload.files, upload.expanded_bytes, upload.sensitive],
  )
