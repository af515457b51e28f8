import type { Sample } from './sample.ts'

export const lifecycleSample: Sample = {
  slice: 'lifecycle',
  async make({ report }) {
    await report('lifecycle', { event: 'running' })
    return {}
  },
  changes: {
    'POST /api/ingest/lifecycle': {
      body: ({ fixtures }) => ({ run_id: fixtures.operator.fields.run_id, event: 'succeeded' }),
    },
  },
}
