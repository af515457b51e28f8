import { facades } from '../../schemas/mlflow.ts'

type Values = Record<string, unknown>

const run = { run_id: 'demo-1' }
const loss = { key: 'loss', value: 0.5, step: 1, timestamp: 1_795_170_180_123 }

/** Registered under each prefix of MLflow's paths. */
const everywhere = <T>(method: string, examples: Record<string, T>): Record<string, T> =>
  Object.fromEntries(
    facades.flatMap(({ mount }) =>
      Object.entries(examples).map(([path, example]) => [
        `${method} ${mount}/api/2.0/${path}`,
        example,
      ]),
    ),
  )

export const mlflowQueries: Record<string, Values> = everywhere<Values>('GET', {
  'mlflow/experiments/get-by-name': { experiment_name: 'demo' },
  'mlflow/experiments/get': { experiment_id: 'demo' },
  'mlflow/runs/get': run,
  'mlflow/artifacts/list': { ...run, path: 'plots' },
  'mlflow-artifacts/artifacts': { path: 'demo-1/plots' },
  'mlflow/experiments/search': { max_results: '100' },
  'mlflow/metrics/get-history': { ...run, metric_key: 'loss' },
})

export const mlflowBodies: Record<string, unknown> = everywhere<unknown>('POST', {
  'mlflow/runs/search': { experiment_ids: ['demo'], filter: 'metrics.loss < 0.5' },
  'mlflow/experiments/search': { max_results: 100 },
  'mlflow/experiments/create': { name: 'vision' },
  'mlflow/experiments/set-experiment-tag': { experiment_id: 'demo', key: 'area', value: 'vision' },
  'mlflow/logged-models/search': { experiment_ids: ['demo'] },
  'mlflow/runs/create': { experiment_id: 'demo', run_name: 'first try' },
  'mlflow/runs/update': { ...run, status: 'FINISHED', end_time: loss.timestamp },
  'mlflow/runs/log-metric': { ...run, ...loss },
  'mlflow/runs/log-parameter': { ...run, key: 'lr', value: '0.01' },
  'mlflow/runs/log-batch': { ...run, metrics: [loss], params: [{ key: 'lr', value: '0.01' }] },
  'mlflow/runs/log-inputs': {
    ...run,
    datasets: [
      { dataset: { name: 'corpus', digest: 'c0ffee', source_type: 'local', source: '{}' } },
    ],
  },
  'mlflow/runs/set-tag': { ...run, key: 'team', value: 'vision' },
  'mlflow/runs/delete-tag': { ...run, key: 'team' },
})
