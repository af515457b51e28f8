import type { Sample } from './sample.ts'

export const hparamSample: Sample = {
  slice: 'hparams',
  async make({ report }) {
    await report('hparams', { params: { seed: 1 } })
    return {}
  },
  tables: { run_hparams: { seenBy: 'members', isOfRun: true, isFilled: true } },
  changes: {
    'POST /api/ingest/hparams': {
      body: ({ fixtures }) => ({ run_id: fixtures.operator.fields.run_id, params: { lr: 1 } }),
    },
  },
}
