import type { SecretEvent } from '../../events/secrets.ts'
import type { Handlers } from '../projection.ts'
import type { SecretTables } from './table.ts'

export const secretProjection: Handlers<SecretTables, SecretEvent> = {
  'secret.set': (tx, { data: { owner, name }, occurred_at }) =>
    tx
      .insertInto('secrets')
      .values({ owner, name, created_at: occurred_at, set_at: occurred_at })
      .onConflict(on => on.columns(['owner', 'name']).doUpdateSet({ set_at: occurred_at }))
      .execute(),
  'secret.removed': (tx, { data: { owner, name } }) =>
    tx.deleteFrom('secrets').where('owner', '=', owner).where('name', '=', name).execute(),
}
