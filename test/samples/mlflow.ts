import { facades } from '../../schemas/mlflow.ts'
import type { Change, Sample, SampleServer } from './sample.ts'

const tags = ['team', 'crew', 'demo'].map(key => ({ key, value: 'vision' }))
const dataset = { name: 'corpus', digest: 'c0ffee', source_type: 'local', source: '{}' }

const ownRun = ({ fixtures }: SampleServer) => ({ run_id: fixtures.operator.fields.run_id })

/** What changes something, by the end of the path; another value for each of the two places of the paths. */
const bodies = (place: number): Record<string, (server: SampleServer) => object> => ({
  'runs/create': ({ fixtures }) => ({
    experiment_id: fixtures.operator.fields.experiment_id,
    run_name: `name ${place}`,
  }),
  'runs/update': server => ({ ...ownRun(server), run_name: `other name ${place}` }),
  'runs/log-parameter': server => ({ ...ownRun(server), key: `depth ${place}`, value: '3' }),
  'runs/log-inputs': server => ({
    ...ownRun(server),
    datasets: [{ dataset: { ...dataset, digest: `beef${place}` } }],
  }),
  'runs/set-tag': server => ({ ...ownRun(server), key: 'note', value: `${place}` }),
  'runs/delete-tag': server => ({ ...ownRun(server), key: ['team', 'crew'][place] }),
  'runs/log-batch': server => ({
    ...ownRun(server),
    tags: [{ key: 'batch', value: `${place}` }],
  }),
})

const changes: Record<string, Change> = {}
for (const [place, { mount }] of facades.entries()) {
  for (const [path, body] of Object.entries(bodies(place)))
    changes[`POST ${mount}/api/2.0/mlflow/${path}`] = { body }
  changes[`POST ${mount}/api/2.0/mlflow/runs/log-metric`] = {
    leavesNoEvent: 'points of metrics are facts',
  }
}

/** What only MLflow's clients tell of a run. */
export const mlflowSample: Sample = {
  slice: 'mlflow',
  async make({ made, report }) {
    await report('mlflow/api/2.0/mlflow/runs/log-batch', { tags })
    await report('mlflow/api/2.0/mlflow/runs/log-inputs', { datasets: [{ dataset }] })
    const { project } = made.fields
    return { fields: { experiment_id: project, experiment_name: project, metric_key: 'loss' } }
  },
  missing: (_, whose) => ({
    fields: { experiment_id: `nobody-${whose}`, experiment_name: `nobody-${whose}` },
  }),
  tables: {
    mlflow_runs: { seenBy: 'members', isOfRun: true, isFilled: true },
    mlflow_inputs: { seenBy: 'members', isOfRun: true, isFilled: true },
  },
  changes,
}
