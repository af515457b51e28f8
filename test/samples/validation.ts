import type { Sample, TableSample } from './sample.ts'

const ofRun: TableSample = { seenBy: 'members', isOfRun: true, isFilled: true }

export const validationSample: Sample = {
  slice: 'validation',
  async make({ report }) {
    await report('validation', {
      step: 10,
      samples: [{ user: 'a prompt of nobody else', reward: 1, sample_key: 'first' }],
    })
    return { nouns: { validation: { step: '10' }, prompts: { sample_key: 'first' } } }
  },
  missing: () => ({ nouns: { validation: { step: '11' }, prompts: { sample_key: 'second' } } }),
  tables: { validation_runs: ofRun, validation_chunks: ofRun, validation_samples: ofRun },
  changes: {
    'POST /api/ingest/validation': {
      body: ({ fixtures }) => ({ run_id: fixtures.operator.fields.run_id, step: 20, samples: [] }),
    },
  },
}
