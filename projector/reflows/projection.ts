import type { Kysely, Updateable } from 'kysely'
import type { ReflowEvent } from '../../events/reflows.ts'
import type { Handlers } from '../projection.ts'
import type { ReflowTables } from './table.ts'

type Tx = Kysely<ReflowTables>

export const reflowProjection: Handlers<ReflowTables, ReflowEvent> = {
  'reflow.created': (tx, { data: { source, rubric, ...reflow }, occurred_at }) =>
    tx
      .insertInto('reflows')
      .values({
        ...reflow,
        source: JSON.stringify(source),
        rubric: rubric && JSON.stringify(rubric),
        ...{ state: 'idle', last_version: null, firings: 0, deleted_at: null },
        ...{ created_at: occurred_at, updated_at: occurred_at },
      })
      .execute(),
  async 'reflow.started'(tx, { data: { reflow_id, firing, window }, occurred_at }) {
    await tx
      .insertInto('reflow_firings')
      .values({
        ...{ reflow_id, firing, window, state: 'running', ref: null, created: false },
        ...{ reason: null, counts: null, started_at: occurred_at, ended_at: null },
      })
      .execute()
    await update(tx, reflow_id, { state: 'running', firings: firing, updated_at: occurred_at })
  },
  async 'reflow.ended'(tx, { data, occurred_at }) {
    const { reflow_id, firing, ref, created, counts } = data
    await end(tx, data, {
      ...{ ref, created, state: ref === null ? 'empty' : 'succeeded' },
      ...{ counts: JSON.stringify(counts), ended_at: occurred_at },
    })
    const version = ref === null ? {} : { last_version: ref }
    await update(tx, reflow_id, {
      state: 'idle',
      ...version,
      updated_at: occurred_at,
      firings: firing,
    })
  },
  async 'reflow.failed'(tx, { data, occurred_at }) {
    await end(tx, data, { state: 'failed', reason: data.reason, ended_at: occurred_at })
    await update(tx, data.reflow_id, { state: 'failed', updated_at: occurred_at })
  },
  'reflow.deleted': (tx, { data: { reflow_id }, occurred_at }) =>
    update(tx, reflow_id, { deleted_at: occurred_at, updated_at: occurred_at }),
}

const update = (tx: Tx, reflow_id: string, to: Updateable<ReflowTables['reflows']>) =>
  tx.updateTable('reflows').set(to).where('reflow_id', '=', reflow_id).execute()

const end = (
  tx: Tx,
  { reflow_id, firing }: { reflow_id: string; firing: number },
  to: Updateable<ReflowTables['reflow_firings']>,
) =>
  tx
    .updateTable('reflow_firings')
    .set(to)
    .where('reflow_id', '=', reflow_id)
    .where('firing', '=', firing)
    .execute()
