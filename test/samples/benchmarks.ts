import type { Sample } from './sample.ts'

const scores = [{ metric: 'exact_match', value: 0.7 }]

export const benchmarkSample: Sample = {
  slice: 'benchmarks',
  async make({ report }) {
    await report('benchmark', { benchmark: 'gsm8k', scores })
    return {}
  },
  tables: { run_benchmarks: { seenBy: 'members', isOfRun: true, isFilled: true } },
  changes: {
    'POST /api/ingest/benchmark': {
      body: ({ fixtures }) => ({
        run_id: fixtures.operator.fields.run_id,
        benchmark: 'math',
        scores,
      }),
    },
  },
}
