import type { Pool } from 'pg'
import { type DatasetStanding, standsAtLeast } from '../../schemas/datasets/access.ts'
import type { DatasetState } from '../../schemas/datasets/datasets.ts'
import { datasetReference, parseDatasetReference } from '../../schemas/datasets/reference.ts'
import type { Transaction } from '../commit/event-store.ts'
import { standingOn } from './dataset-access.ts'

export type DatasetOfJob = {
  /** `owner/name@version`. */
  ref: string
  digest: string
  state: DatasetState
  splits: readonly string[] | null
  files: readonly { name: string; sha256: string; size_bytes: number; split: string }[]
}

/**
 * `missing`: not there, or hidden from this person; `forbidden`: they may see the dataset and not use it; `dataset` is `owner/name`.
 */
export type FoundDataset =
  | ({ is: 'found' } & DatasetOfJob)
  | { is: 'missing' }
  | { is: 'forbidden'; dataset: string }

type Row = Omit<DatasetOfJob, 'ref'> & { owner: string; name: string; version: number }

/**
 * The version that `owner/name@3` names, or that `owner/name` names now: the newest ready one. Asked at preflight, at admission
 * and again at each launch.
 */
export async function resolveDataset(
  db: Pool | Transaction,
  ref: string,
  caller: { username: string; role: string },
): Promise<FoundDataset> {
  const wanted = parseDatasetReference(ref)
  if (!wanted) return { is: 'missing' }
  const standing: DatasetStanding = await standingOn(db, wanted, caller)
  if (!standsAtLeast(standing, 'see')) return { is: 'missing' }
  const { owner, name, version } = wanted
  if (!standsAtLeast(standing, 'use')) return { is: 'forbidden', dataset: `${owner}/${name}` }
  const { rows } = await db.query<Row>({
    name: 'resolve_dataset',
    text: `select owner, name, version, digest, state, splits, files from write.dataset_version
            where owner = $1 and name = $2 and deleted_at is null
              and (version = $3 or ($3::int is null and state = 'ready'))
            order by version desc limit 1`,
    values: [owner, name, version],
  })
  const [row] = rows
  if (!row) return { is: 'missing' }
  const { digest, state, splits, files } = row
  return { is: 'found', ref: datasetReference(row), digest, state, splits, files }
}
