import type { Sample } from './sample.ts'

/** Labels and notes that MLflow's tags become. */
export const labelSample: Sample = {
  slice: 'labels',
  async make({ report }) {
    const tags = { area: 'vision', 'mlflow.note.content': 'tries a smaller model' }
    await report('mlflow/api/2.0/mlflow/runs/log-batch', {
      tags: Object.entries(tags).map(([key, value]) => ({ key, value })),
    })
    return {}
  },
  tables: {
    run_labels: { seenBy: 'members', isOfRun: true, isFilled: true },
    labels_of_runs: { seenBy: 'members', isFilled: true },
  },
}
