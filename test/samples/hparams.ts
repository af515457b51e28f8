import type { Sample } from './sample.ts'

export const hparamSample: Sample = {
  slice: 'hparams',
  async make({ report }) {
    for (const seed of [1, 2]) await report('hparams', { params: { seed } })
    return {}
  },
  tables: {
    run_hparams: { seenBy: 'members', isOfRun: true, isFilled: true },
    run_hparam_changes: { seenBy: 'members', isOfRun: true, isFilled: true },
    run_hparam_values: { seenBy: 'members', isOfRun: true, isFilled: true },
    hparams_of_runs: { seenBy: 'members', isFilled: true },
  },
  changes: {
    'POST /api/ingest/hparams': {
      body: ({ fixtures }) => ({ run_id: fixtures.operator.fields.run_id, params: { lr: 1 } }),
    },
  },
}
