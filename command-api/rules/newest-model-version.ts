import type { Pool } from 'pg'
import { sha256Hex } from '../../platform/digest.ts'
import type { Transaction } from '../commit/event-store.ts'

/** The newest version of a model, archived or not; version 0 has no artifact. */
export type ModelHead = {
  version: number
  digest: string
  /** Null: its bytes are not in the store. */
  stored: { path: string; sha256: string } | null
}

type Row = {
  version: number
  artifact_id: string
  path: string
  sha256: string | null
  gone: boolean
}

export async function newestVersion(db: Pool | Transaction, model: string): Promise<ModelHead> {
  const { rows } = await db.query<Row>({
    name: 'newest_model_version',
    text: `select v.version, v.artifact_id, a.path, a.sha256,
                  a.is_missing or a.deleted_at is not null as gone
             from write.model_version v join write.artifact a using (artifact_id)
            where v.model = $1 order by v.version desc limit 1`,
    values: [model],
  })
  const [row] = rows
  if (!row) return { version: 0, digest: '', stored: null }
  const { version, artifact_id, path, sha256, gone } = row
  return {
    version,
    digest: sha256 ?? sha256Hex(artifact_id),
    stored: gone || sha256 === null ? null : { path, sha256 },
  }
}
