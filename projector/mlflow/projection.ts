import { type Kysely, sql } from 'kysely'
import type { MlflowEvent } from '../../events/mlflow.ts'
import type { Handlers } from '../projection.ts'
import type { MlflowTables } from './table.ts'

type Tx = Kysely<MlflowTables>

export const mlflowProjection: Handlers<MlflowTables, MlflowEvent> = {
  'mlflow.tags_set': (tx, { data: { run_id, tags } }) =>
    tx
      .insertInto('mlflow_runs')
      .values({ run_id, tags: JSON.stringify(tags), status: null, end_time_ms: null })
      .onConflict(on =>
        on.column('run_id').doUpdateSet({ tags: sql`mlflow_runs.tags || excluded.tags` }),
      )
      .execute(),
  'mlflow.tag_deleted': (tx: Tx, { data: { run_id, key } }) =>
    tx
      .updateTable('mlflow_runs')
      .set({ tags: sql`tags - ${key}::text` })
      .where('run_id', '=', run_id)
      .execute(),
  'mlflow.status_reported': (tx, { data: { run_id, status, end_time_ms } }) =>
    tx
      .insertInto('mlflow_runs')
      .values({ run_id, tags: '{}', status, end_time_ms })
      .onConflict(on => on.column('run_id').doUpdateSet({ status, end_time_ms }))
      .execute(),
  'mlflow.experiment_tagged': (tx, { data: { project, key, value } }) =>
    tx
      .insertInto('mlflow_experiments')
      .values({ project, tags: JSON.stringify({ [key]: value }) })
      .onConflict(on =>
        on.column('project').doUpdateSet({ tags: sql`mlflow_experiments.tags || excluded.tags` }),
      )
      .execute(),
  'mlflow.inputs_logged': async (tx, { data: { run_id, inputs }, stream_version }) => {
    for (const [place, input] of inputs.entries()) {
      const { name, digest } = input
      const row = { run_id, name, digest, version: stream_version, place }
      await tx
        .insertInto('mlflow_inputs')
        .values({ ...row, input: JSON.stringify(input) })
        .onConflict(on => on.columns(['run_id', 'name', 'digest']).doNothing())
        .execute()
    }
  },
}
