import test from 'ava'
import type { MlflowEvent } from '../../events/mlflow.ts'
import { database } from '../servers/postgres.ts'
import { project } from '../servers/project.ts'
import { recordedAbout } from './recorded.ts'

const run_id = 'run_1'
const recorded = recordedAbout(run_id)

const input = (digest: string) => ({
  ...{ name: 'corpus', digest, source_type: 'local', source: '{}' },
  ...{ schema: null, profile: '{}', tags: { 'mlflow.data.context': 'training' } },
})

test('tags, the status and the data sets of a run are the last reported ones', async t => {
  const { pool } = await database(t)
  const events: MlflowEvent[] = [
    { type: 'mlflow.status_reported', data: { run_id, status: 'RUNNING', end_time_ms: null } },
    { type: 'mlflow.tags_set', data: { run_id, tags: { a: '1', b: '2' } } },
    { type: 'mlflow.tags_set', data: { run_id, tags: { b: '3', c: '4' } } },
    { type: 'mlflow.tag_deleted', data: { run_id, key: 'a' } },
    { type: 'mlflow.inputs_logged', data: { run_id, inputs: [input('one'), input('two')] } },
    { type: 'mlflow.status_reported', data: { run_id, status: 'FINISHED', end_time_ms: 7 } },
    { type: 'mlflow.experiment_tagged', data: { project: 'demo', key: 'a', value: '1' } },
    { type: 'mlflow.experiment_tagged', data: { project: 'demo', key: 'b', value: '2' } },
  ]
  await project(pool, events.map(recorded))
  const { rows: runs } = await pool.query('select * from read.mlflow_runs')
  t.deepEqual(runs, [{ run_id, tags: { b: '3', c: '4' }, status: 'FINISHED', end_time_ms: 7 }])
  const { rows: experiments } = await pool.query('select * from read.mlflow_experiments')
  t.deepEqual(experiments, [{ project: 'demo', tags: { a: '1', b: '2' } }])
  const { rows: inputs } = await pool.query('select * from read.mlflow_inputs order by place')
  t.deepEqual(inputs, [
    { run_id, name: 'corpus', digest: 'one', version: 5, place: 0, input: input('one') },
    { run_id, name: 'corpus', digest: 'two', version: 5, place: 1, input: input('two') },
  ])
})
