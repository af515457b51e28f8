import { type Kysely, sql, type Updateable } from 'kysely'
import type { HubImportEvent } from '../../events/hub-imports.ts'
import type { Handlers } from '../projection.ts'
import type { HubImportTables } from './table.ts'

type Tx = Kysely<HubImportTables>
type Row = HubImportTables['hub_imports']

const nextChange = sql<number>`(select coalesce(max(change), 0) + 1 from hub_imports)`

export const hubImportProjection: Handlers<HubImportTables, HubImportEvent> = {
  'hub.import_requested': (tx, { data, occurred_at }) => {
    const begun = {
      ...{ state: 'resolving' as const, error: null, updated_at: occurred_at },
      change: nextChange,
    }
    return tx
      .insertInto('hub_imports')
      .values({
        ...data,
        ...begun,
        ...{ license: null, gated: null, file_count: null, bytes: null, bytes_done: 0 },
        ...{ digest: null, files: '[]', created_at: occurred_at },
      })
      .onConflict(on => on.column('import_id').doUpdateSet({ ...begun, revision: data.revision }))
      .execute()
  },
  'hub.import_listed': (tx, { data, occurred_at }) => {
    const { import_id, license, gated, file_count, bytes } = data
    return update(tx, import_id, {
      ...{ state: 'downloading', license, gated, file_count, bytes, updated_at: occurred_at },
    })
  },
  'hub.import_progressed': (tx, { data: { import_id, bytes_done }, occurred_at }) =>
    update(tx, import_id, { bytes_done, updated_at: occurred_at }),
  'hub.import_ready': (tx, { data: { import_id, digest, files }, occurred_at }) =>
    update(tx, import_id, {
      ...{ state: 'ready', digest, files: JSON.stringify(files), updated_at: occurred_at },
      bytes_done: files.reduce((sum, { size_bytes }) => sum + size_bytes, 0),
    }),
  'hub.import_failed': (tx, { data: { import_id, reason }, occurred_at }) =>
    update(tx, import_id, { state: 'failed', error: reason, updated_at: occurred_at }),
  'hub.import_deleted': (tx, { data: { import_id } }) =>
    tx.deleteFrom('hub_imports').where('import_id', '=', import_id).execute(),
}

const update = (tx: Tx, import_id: string, to: Updateable<Row>) =>
  tx
    .updateTable('hub_imports')
    .set({ ...to, change: nextChange })
    .where('import_id', '=', import_id)
    .execute()
