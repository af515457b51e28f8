import { facades } from '../../schemas/mlflow.ts'
import { withoutOwner } from './missing-id.ts'
import type { Change, Sample, SampleServer } from './sample.ts'
import { bearer } from './send.ts'

const tags = ['team', 'crew', 'demo'].map(key => ({ key, value: 'vision' }))
const dataset = { name: 'corpus', digest: 'c0ffee', source_type: 'local', source: '{}' }

const ownRun = ({ fixtures }: SampleServer) => ({ run_id: fixtures.operator.fields.run_id })

/** The changing calls, by the end of the path; with different values for each of the two path prefixes. */
const bodies = (place: number): Record<string, (server: SampleServer) => object> => ({
  'runs/create': ({ fixtures }) => ({
    experiment_id: fixtures.operator.fields.experiment_id,
    run_name: `name ${place}`,
  }),
  'experiments/create': () => ({ name: `vision-${place}` }),
  'experiments/set-experiment-tag': ({ fixtures }) => ({
    experiment_id: fixtures.operator.fields.experiment_id,
    ...{ key: 'purpose', value: `${place}` },
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

/** Things that running code need not create, because it has them. */
const ofIngest: Record<string, Change> = {
  'POST /api/ingest/mlflow/api/2.0/mlflow/experiments/create': {
    leavesNoEvent: 'the experiment of running code is the project of its run',
  },
}

const changes: Record<string, Change> = {}
for (const [place, { mount }] of facades.entries()) {
  for (const [path, body] of Object.entries(bodies(place)))
    changes[`POST ${mount}/api/2.0/mlflow/${path}`] = { body }
  changes[`POST ${mount}/api/2.0/mlflow/runs/log-metric`] = {
    leavesNoEvent: 'points of metrics are facts',
  }
  changes[`PUT ${mount}/api/2.0/mlflow-artifacts/artifacts/{run_id}/{+path}`] = {
    body: () => ({ said: `again ${place}` }),
  }
  for (const what of ['runs', 'experiments', 'logged-models'])
    changes[`POST ${mount}/api/2.0/mlflow/${what}/search`] = { leavesNoEvent: 'it is a read' }
}

/** Data that only MLflow's clients report about a run. */
export const mlflowSample: Sample = {
  slice: 'mlflow',
  async make({ made, report, send, owner, ask }) {
    await report('mlflow/api/2.0/mlflow/runs/log-batch', { tags })
    await report('mlflow/api/2.0/mlflow/runs/log-inputs', { datasets: [{ dataset }] })
    const { project, run_id } = made.fields
    await ask({
      method: 'POST',
      path: '/api/2.0/mlflow/experiments/set-experiment-tag',
      body: { experiment_id: project, key: 'area', value: 'vision' },
    })
    const path = `said-by-${owner.username}.json`
    const { status, text } = await send({
      method: 'PUT',
      path: `/api/ingest/mlflow/api/2.0/mlflow-artifacts/artifacts/${run_id}/${path}`,
      headers: bearer(made.tokens.ingest),
      body: { said: 'by a test' },
    })
    if (status !== 200) throw new Error(`an artifact returned ${status} ${text}`)
    return {
      nouns: { artifacts: { ...made.nouns.artifacts, run_id: String(run_id), path } },
      fields: { experiment_id: project, experiment_name: project, metric_key: 'loss' },
    }
  },
  missing: ({ nouns, fields }, whose) => ({
    nouns: {
      artifacts: {
        artifact_id: withoutOwner(nouns.artifacts?.artifact_id),
        run_id: withoutOwner(fields.run_id),
        path: `said-by-nobody-${whose}.json`,
      },
    },
    fields: { experiment_id: `nobody-${whose}`, experiment_name: `nobody-${whose}` },
  }),
  tables: {
    mlflow_runs: { seenBy: 'members', isOfRun: true, isFilled: true },
    mlflow_experiments: { seenBy: 'members', isFilled: true },
    mlflow_inputs: { seenBy: 'members', isOfRun: true, isFilled: true },
  },
  lists: {
    '/api/2.0/mlflow/experiments/search': 'its people',
    // For no particular run, because the path names none.
    '/api/2.0/mlflow-artifacts/artifacts': 'the caller',
  },
  changes: { ...changes, ...ofIngest },
}
