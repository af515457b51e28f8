import { type Kysely, sql, type Updateable } from 'kysely'
import type { Recorded } from '../../events/event.ts'
import type { ModelEvent } from '../../events/models.ts'
import type { Handlers } from '../projection.ts'
import type { ModelTables } from './table.ts'

type Tx = Kysely<ModelTables>
type Moved = Recorded<Extract<ModelEvent, { type: 'model.alias_moved' }>>

export const modelProjection: Handlers<ModelTables, ModelEvent> = {
  'model.created': (tx, { data, occurred_at }) =>
    tx
      .insertInto('models')
      .values({ ...data, created_at: occurred_at, updated_at: occurred_at, deleted_at: null })
      .execute(),
  'model.changed': (tx, { data: { model, ...settings }, occurred_at }) =>
    update(tx, model, { ...settings, updated_at: occurred_at }),
  'model.registration_failed': async () => {},
  'model.gates_overridden': (tx, { data: { model, alias, failed } }) =>
    tx
      .updateTable('model_alias_moves')
      .set({ overridden: failed })
      .where('model', '=', model)
      .where('alias', '=', alias)
      .where('nth', '=', newestMove({ model, alias }))
      .execute(),
  'model.deleted': (tx, { data, occurred_at }) =>
    update(tx, data.model, { updated_at: occurred_at, deleted_at: occurred_at }),
  async 'model.version_created'(tx, { data, occurred_at, actor }) {
    await tx
      .insertInto('model_versions')
      .values({ ...data, archived: false, created_by: actor.id, created_at: occurred_at })
      .execute()
    await update(tx, data.model, { updated_at: occurred_at })
  },
  async 'model.version_changed'(tx, { data, occurred_at }) {
    const { model, version, archived, stage_notes } = data
    await tx
      .updateTable('model_versions')
      .set({ archived, stage_notes })
      .where('model', '=', model)
      .where('version', '=', version)
      .execute()
    await update(tx, model, { updated_at: occurred_at })
  },
  async 'model.alias_moved'(tx, event) {
    await setAlias(tx, event)
    await keepMove(tx, event)
    await update(tx, event.data.model, { updated_at: event.occurred_at })
  },
}

const update = (tx: Tx, model: string, to: Updateable<ModelTables['models']>) =>
  tx.updateTable('models').set(to).where('model', '=', model).execute()

function setAlias(tx: Tx, { data, occurred_at, actor }: Moved) {
  const { model, alias, to_version } = data
  if (to_version === null)
    return tx
      .deleteFrom('model_aliases')
      .where('model', '=', model)
      .where('alias', '=', alias)
      .execute()
  const now = { version: to_version, moved_at: occurred_at, moved_by: actor.id }
  return tx
    .insertInto('model_aliases')
    .values({ model, alias, ...now })
    .onConflict(conflict => conflict.columns(['model', 'alias']).doUpdateSet(now))
    .execute()
}

const keepMove = (tx: Tx, { data, occurred_at, actor }: Moved) =>
  tx
    .insertInto('model_alias_moves')
    .values({
      ...data,
      ...{ at: occurred_at, actor: actor.id },
      nth: sql<number>`${newestMove(data)} + 1`,
    })
    .execute()

/** Zero before the first. */
const newestMove = ({ model, alias }: { model: string; alias: string }) =>
  sql<number>`(select coalesce(max(nth), 0) from model_alias_moves where model = ${model} and alias = ${alias})`
