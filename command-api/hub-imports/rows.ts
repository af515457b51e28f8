import type { Pool } from 'pg'
import type { HubImportEvent, HubImportIdentity } from '../../events/hub-imports.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { HubFile } from '../../schemas/hub-imports.ts'
import type { EventStore, Transaction } from '../commit/event-store.ts'
import type { ListedFile } from '../rules/model-hub.ts'

/** Imports of one person. */
const maxImports = 500

export type ImportRow = HubImportIdentity & { state: string }
export type FileRow = Omit<ListedFile, 'name'> & { name: string; nth: number; is_here: boolean }

export async function findImport(
  db: Pool | Transaction,
  import_id: string,
): Promise<ImportRow | null> {
  const { rows } = await db.query<ImportRow>({
    name: 'find_hub_import',
    text: 'select import_id, owner, repo, commit, state from write.hub_import where import_id = $1',
    values: [import_id],
  })
  return rows[0] ?? null
}

export async function filesOf(db: Pool | Transaction, import_id: string): Promise<FileRow[]> {
  const { rows } = await db.query<FileRow>({
    name: 'files_of_hub_import',
    text: `select name, nth, size_bytes::float8 as size_bytes, oid, sha256, is_here
             from write.hub_file where import_id = $1 order by nth`,
    values: [import_id],
  })
  return rows
}

type Changed = { events: readonly HubImportEvent[] }

/** Writes the rows that other rules read. */
export async function saveImport(tx: Transaction, { events }: Changed): Promise<void> {
  for (const { type, data } of events) {
    const { import_id, owner, repo, commit } = data
    switch (type) {
      case 'hub.import_requested':
        await tx.query(
          `insert into write.hub_import (import_id, owner, repo, commit, state) values ($1, $2, $3, $4, 'resolving')
           on conflict (import_id) do update set state = 'resolving', error = null`,
          [import_id, owner, repo, commit],
        )
        await refuseTooMany(tx, owner)
        break
      case 'hub.import_listed':
        await setState(tx, import_id, 'downloading')
        break
      case 'hub.import_progressed':
        break
      case 'hub.import_ready':
        await setState(tx, import_id, 'ready')
        break
      case 'hub.import_failed':
        await setState(tx, import_id, 'failed', data.reason)
        break
      case 'hub.import_deleted':
        await tx.query('delete from write.hub_import where import_id = $1', [import_id])
    }
  }
}

const setState = (tx: Transaction, import_id: string, state: string, error: string | null = null) =>
  tx.query('update write.hub_import set state = $2, error = $3 where import_id = $1', [
    ...[import_id, state, error],
  ])

async function refuseTooMany(tx: Transaction, owner: string): Promise<void> {
  const { rows } = await tx.query<{ count: number }>(
    'select count(*)::int as count from write.hub_import where owner = $1',
    [owner],
  )
  if ((rows[0]?.count ?? 0) > maxImports)
    throw new Refusal(
      'conflict',
      `You have ${maxImports} imports, the most that a person may have; remove one first (forge hub rm)`,
      { code: 'hub.too_many' },
    )
}

/** Files that have arrived before stay. */
export async function saveFiles(
  tx: Transaction,
  import_id: string,
  { files, isOpen }: { files: readonly ListedFile[]; isOpen: boolean },
): Promise<void> {
  await tx.query('update write.hub_import set is_open = $2 where import_id = $1', [
    ...[import_id, isOpen],
  ])
  await tx.query(
    `insert into write.hub_file (import_id, name, nth, size_bytes, oid, sha256)
     select $1, f.name, f.nth, f.size_bytes, f.oid, f.sha256
       from jsonb_to_recordset($2) as f (name text, nth int, size_bytes bigint, oid text, sha256 text)
     on conflict (import_id, name) do nothing`,
    [import_id, JSON.stringify(files.map((file, nth) => ({ ...file, nth })))],
  )
}

/** False if the import was deleted meanwhile: nothing may then keep the content. */
export async function markHere(
  tx: Transaction,
  import_id: string,
  { name, sha256 }: Pick<HubFile, 'name' | 'sha256'>,
): Promise<boolean> {
  const { rowCount } = await tx.query(
    'update write.hub_file set is_here = true, sha256 = $3 where import_id = $1 and name = $2',
    [import_id, name, sha256],
  )
  return rowCount === 1
}

/** Whether an import of the same repository has this content. Other repositories may list digests of files that they do not have. */
export async function isInRepo(
  tx: Transaction,
  { repo, sha256 }: { repo: string; sha256: string },
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `select from write.hub_file f join write.hub_import i using (import_id)
      where f.sha256 = $1 and f.is_here and i.repo = $2 limit 1`,
    [sha256, repo],
  )
  return rowCount === 1
}

/** Whether the file was received again before; from now on it was. */
export const isRetried = (store: EventStore, import_id: string, name: string): Promise<boolean> =>
  store.transaction(async tx => {
    const { rowCount } = await tx.query(
      `update write.hub_file set is_retried = true where import_id = $1 and name = $2 and not is_retried`,
      [import_id, name],
    )
    return rowCount === 0
  })
