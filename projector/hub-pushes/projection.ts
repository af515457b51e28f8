import { type Kysely, sql, type Updateable } from 'kysely'
import type { HubPushEvent } from '../../events/hub-pushes.ts'
import type { Handlers } from '../projection.ts'
import type { HubPushTables } from './table.ts'

type Tx = Kysely<HubPushTables>
type Row = HubPushTables['hub_pushes']

const nextChange = sql<number>`(select coalesce(max(change), 0) + 1 from hub_pushes)`

export const hubPushProjection: Handlers<HubPushTables, HubPushEvent> = {
  'hub.push_requested': (tx, { data, occurred_at }) =>
    tx
      .insertInto('hub_pushes')
      .values({
        ...data,
        ...{ state: 'requested', file_count: null, bytes: null, bytes_done: 0, commit: null },
        ...{ url: null, error: null, card: null, created_at: occurred_at, updated_at: occurred_at },
        change: nextChange,
      })
      .execute(),
  'hub.push_listed': (tx, { data: { push_id, file_count, bytes, card }, occurred_at }) =>
    update(tx, push_id, { state: 'sending', file_count, bytes, card, updated_at: occurred_at }),
  'hub.push_progressed': (tx, { data: { push_id, bytes_done }, occurred_at }) =>
    update(tx, push_id, { bytes_done, updated_at: occurred_at }),
  'hub.push_sent': (tx, { data: { push_id, commit, url }, occurred_at }) =>
    tx
      .updateTable('hub_pushes')
      .set({ state: 'sent', commit, url, updated_at: occurred_at })
      .set({ bytes_done: sql`coalesce(bytes, 0)`, change: nextChange })
      .where('push_id', '=', push_id)
      .execute(),
  'hub.push_failed': (tx, { data: { push_id, reason }, occurred_at }) =>
    update(tx, push_id, { state: 'failed', error: reason, updated_at: occurred_at }),
  'hub.push_cancelled': (tx, { data: { push_id }, occurred_at }) =>
    update(tx, push_id, { state: 'cancelled', updated_at: occurred_at }),
}

const update = (tx: Tx, push_id: string, to: Updateable<Row>) =>
  tx
    .updateTable('hub_pushes')
    .set({ ...to, change: nextChange })
    .where('push_id', '=', push_id)
    .execute()
