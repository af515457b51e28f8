import type { Slice } from '../slice.ts'
import { benchmarkRoutes } from './routes.ts'

export const benchmarks: Slice = {
  name: 'benchmarks',
  routes: benchmarkRoutes,
  kind: null,
  announces: {
    benchmarks: 'nothing',
  },
  examples: {
    bodies: {
      'POST /api/ingest/benchmark': {
        run_id: 'demo-1',
        benchmark: 'gsm8k',
        split: 'test',
        step: 150,
        scores: [{ metric: 'exact_match', value: 0.712, n: 1319 }],
      },
    },
  },
}
