import type { ViewEvent } from '../../events/views.ts'
import type { Handlers } from '../projection.ts'
import type { ViewTables } from './table.ts'

export const viewProjection: Handlers<ViewTables, ViewEvent> = {
  'view.saved': (tx, { data: { project, owner, view, shared, state }, occurred_at }) => {
    const saved = { shared, state, bytes: Buffer.byteLength(state), saved_at: occurred_at }
    return tx
      .insertInto('saved_views')
      .values({ project, owner: owner ?? '', view, ...saved })
      .onConflict(on => on.columns(['project', 'owner', 'view']).doUpdateSet(saved))
      .execute()
  },
  'view.removed': (tx, { data: { project, owner, view } }) =>
    tx
      .deleteFrom('saved_views')
      .where('project', '=', project)
      .where('owner', '=', owner ?? '')
      .where('view', '=', view)
      .execute(),
}
