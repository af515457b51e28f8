import { sql } from 'kysely'
import type { EnvironmentEvent } from '../../events/environment.ts'
import type { Handlers } from '../projection.ts'
import type { EnvironmentTables } from './table.ts'

export const environmentProjection: Handlers<EnvironmentTables, EnvironmentEvent> = {
  'environment.captured': async (tx, { data: { run_id, digest, captured_at, picture } }) => {
    await tx
      .insertInto('environments')
      .values({ digest, picture: JSON.stringify(picture) })
      .onConflict(on => on.column('digest').doNothing())
      .execute()
    await tx
      .insertInto('run_environments')
      .values({ run_id, digest, captured_at })
      .onConflict(on => on.column('run_id').doUpdateSet({ digest, captured_at }))
      .execute()
  },
  'environment.nodes_described': (tx, { data: { run_id, nodes }, occurred_at }) =>
    sql`
      insert into run_nodes (run_id, node, facts, reported_at)
      select ${run_id}, node, facts, ${occurred_at}
        from jsonb_to_recordset(${JSON.stringify(nodes)}::jsonb) as n (node text, facts jsonb)
      on conflict (run_id, node) do update set facts = excluded.facts, reported_at = excluded.reported_at`.execute(
      tx,
    ),
}
