import { splitOf } from '../../datasets/splits.ts'
import type { DatasetEvent } from '../../events/datasets.ts'
import type { Transaction } from '../commit/event-store.ts'

type Changed = { events: readonly DatasetEvent[]; now: Date }

/** Writes the rows of datasets that other rules read. */
export async function saveDataset(tx: Transaction, { events, now }: Changed): Promise<void> {
  for (const event of events) await saveEvent(tx, event, now)
}

function saveEvent(tx: Transaction, { type, data }: DatasetEvent, now: Date): Promise<unknown> {
  const dataset = [data.owner, data.name]
  switch (type) {
    case 'dataset.created':
    case 'dataset.changed':
      return tx.query(
        `insert into write.dataset (owner, name, visibility, use_by) values ($1, $2, $3, $4)
         on conflict (owner, name) do update set visibility = excluded.visibility, use_by = excluded.use_by`,
        [...dataset, data.visibility, data.use],
      )
    case 'dataset.granted':
      return saveGrant(tx, data)
    case 'dataset.version_created':
      return tx.query(
        `insert into write.dataset_version (owner, name, version, digest, state, files)
         values ($1, $2, $3, $4, 'validating', $5)`,
        [...dataset, data.version, data.digest, JSON.stringify(data.files.map(toFile))],
      )
    case 'dataset.validated':
      return tx.query(
        `update write.dataset_version set state = $4, splits = $5
          where owner = $1 and name = $2 and version = $3`,
        [...dataset, data.version, data.state, Object.keys(data.report.splits)],
      )
    case 'dataset.deprecated':
      return tx.query(
        `update write.dataset_version set state = 'deprecated' where owner = $1 and name = $2 and version = $3`,
        [...dataset, data.version],
      )
    case 'dataset.version_deleted':
      return tx.query(
        'update write.dataset_version set deleted_at = $4 where owner = $1 and name = $2 and version = $3',
        [...dataset, data.version, now],
      )
  }
}

type File = { name: string; sha256: string; size_bytes: number }
const toFile = ({ name, sha256, size_bytes }: File) => ({
  ...{ name, sha256, size_bytes },
  split: splitOf(name),
})

type Granted = Extract<DatasetEvent, { type: 'dataset.granted' }>['data']

const saveGrant = (tx: Transaction, { owner, name, username, see, use }: Granted) =>
  see || use
    ? tx.query(
        `insert into write.dataset_grant (owner, name, username, may_see, may_use) values ($1, $2, $3, $4, $5)
         on conflict (owner, name, username) do update set may_see = excluded.may_see, may_use = excluded.may_use`,
        [owner, name, username, see, use],
      )
    : tx.query('delete from write.dataset_grant where owner = $1 and name = $2 and username = $3', [
        ...[owner, name, username],
      ])
