import type { Pool } from 'pg'
import { Refusal } from '../../platform/refusal.ts'
import {
  type DatasetStanding,
  datasetStanding,
  standsAtLeast,
} from '../../schemas/datasets/access.ts'
import type { Transaction } from '../commit/event-store.ts'

type Name = { owner: string; name: string }
type Asking = { username: string; role: string }
type Row = Name & {
  visibility: 'private' | 'public'
  use: 'everybody' | 'granted'
  may_see: boolean | null
  may_use: boolean | null
}

/** What the person may do with a dataset; `hidden` as well if there is none. */
export async function standingOn(
  db: Pool | Transaction,
  { owner, name }: Name,
  caller: Asking,
): Promise<DatasetStanding> {
  const { rows } = await db.query<Row>({
    name: 'dataset_access',
    text: `select d.owner, d.name, d.visibility, d.use_by as use, g.may_see, g.may_use
             from write.dataset d
             left join write.dataset_grant g on g.owner = d.owner and g.name = d.name and g.username = $3
            where d.owner = $1 and d.name = $2`,
    values: [owner, name, caller.username],
  })
  const [row] = rows
  if (!row) return 'hidden'
  const grant = row.may_see === null ? null : { see: row.may_see, use: row.may_use === true }
  return datasetStanding(row, grant, caller)
}

export const noSuchDataset = ({ owner, name }: Name) =>
  new Refusal('not_found', `No such dataset: ${owner}/${name}`)

/** Refuses callers who may not change the dataset; if they may not see it either, it looks missing. */
export async function refuseUnlessWriter(
  db: Pool | Transaction,
  dataset: Name,
  caller: Asking,
): Promise<void> {
  const standing = await standingOn(db, dataset, caller)
  if (!standsAtLeast(standing, 'see')) throw noSuchDataset(dataset)
  if (!standsAtLeast(standing, 'write'))
    throw new Refusal(
      'forbidden',
      `Only ${dataset.owner} and admins may do that to the dataset ${dataset.owner}/${dataset.name}`,
    )
}
