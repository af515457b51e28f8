import type { Sample } from './sample.ts'

const definition = { metric: 'exact_match' }
const scores = [{ metric: 'exact_match', value: 0.7 }]

export const benchmarkSample: Sample = {
  slice: 'benchmarks',
  async make({ ask, report, owner }) {
    await report('benchmark', { benchmark: 'gsm8k', scores })
    const name = `benchmark-of-${owner.username}`
    await ask({ method: 'PUT', path: `/api/benchmarks/${name}`, body: definition })
    return { nouns: { benchmarks: { name } } }
  },
  missing: (_, whose) => ({ nouns: { benchmarks: { name: `benchmark-of-${whose}` } } }),
  lists: { '/api/benchmarks': 'everybody, with names' },
  tables: {
    run_benchmarks: { seenBy: 'members', isOfRun: true, isFilled: true },
    benchmark_versions: {
      seenBy: 'everybody',
      isFilled: true,
      cells: ({ username }) => ({ name: `benchmark-of-${username}` }),
    },
  },
  pages: () => ['/benchmarks/none'],
  changes: {
    'PUT /api/benchmarks/{name}': { body: () => ({ ...definition, metric: 'loss' }) },
    'POST /api/ingest/benchmark': {
      body: ({ fixtures }) => ({
        run_id: fixtures.operator.fields.run_id,
        benchmark: 'math',
        scores,
      }),
    },
  },
}
