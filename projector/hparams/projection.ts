import { type Kysely, sql } from 'kysely'
import type { Recorded } from '../../events/event.ts'
import type { HparamsEvent } from '../../events/hparams.ts'
import type { Handlers } from '../projection.ts'
import type { HparamTables } from './table.ts'

type Tx = Kysely<HparamTables>

export const hparamsProjection: Handlers<HparamTables, HparamsEvent> = {
  'hparams.set': async (tx, event) => {
    const { run_id, added, changed } = event.data
    const news = Object.fromEntries(changed.map(({ key, to }) => [key, to]))
    await tx
      .insertInto('run_hparams')
      .values({ run_id, params: JSON.stringify({ ...added, ...news }) })
      .onConflict(on =>
        on.column('run_id').doUpdateSet({ params: sql`run_hparams.params || excluded.params` }),
      )
      .execute()
    if (changed.length > 0) await addChanges(tx, event)
  },
}

const addChanges = (tx: Tx, { data, stream_version, occurred_at }: Recorded<HparamsEvent>) =>
  sql`
    insert into run_hparam_changes (run_id, version, place, key, "from", "to", at)
    select ${data.run_id}, ${stream_version}, place, change ->> 'key', change -> 'from', change -> 'to', ${occurred_at}
      from jsonb_array_elements(${JSON.stringify(data.changed)}::jsonb) with ordinality c (change, place)`.execute(
    tx,
  )
