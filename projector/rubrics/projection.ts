import type { RubricEvent } from '../../events/rubrics.ts'
import type { Handlers } from '../projection.ts'
import type { RubricTables } from './table.ts'

export const rubricProjection: Handlers<RubricTables, RubricEvent> = {
  'rubric.updated': (tx, { data, occurred_at, actor }) => {
    const content = {
      ...data,
      criteria: JSON.stringify(data.criteria),
      updated_at: occurred_at,
      updated_by: actor.id,
    }
    return tx
      .insertInto('rubrics')
      .values({ ...content, created_at: occurred_at })
      .onConflict(on => on.columns(['owner', 'name']).doUpdateSet(content))
      .execute()
  },
}
