import { sql } from 'kysely'
import type { HparamsEvent } from '../../events/hparams.ts'
import type { Handlers } from '../projection.ts'
import type { HparamTables } from './table.ts'

export const hparamsProjection: Handlers<HparamTables, HparamsEvent> = {
  'hparams.set': (tx, { data, occurred_at }) => {
    const changed = Object.fromEntries(data.changed.map(({ key, to }) => [key, to]))
    const params = JSON.stringify({ ...data.added, ...changed })
    const changes = JSON.stringify(data.changed.map(change => ({ ...change, at: occurred_at })))
    return tx
      .insertInto('run_hparams')
      .values({ run_id: data.run_id, params, changes })
      .onConflict(on =>
        on.column('run_id').doUpdateSet({
          params: sql`run_hparams.params || excluded.params`,
          changes: sql`run_hparams.changes || excluded.changes`,
        }),
      )
      .execute()
  },
}
