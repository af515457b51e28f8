import type { Slice } from '../slice.ts'
import { defineRoute } from './define-route.ts'
import { benchmarkRoutes } from './routes.ts'

export const benchmarks: Slice = {
  name: 'benchmarks',
  routes: deps => [...benchmarkRoutes(deps), defineRoute(deps)],
  kind: null,
  announces: {
    benchmark: 'nothing',
    benchmarks: 'nothing',
  },
  examples: {
    paths: { 'benchmarks.name': 'gsm8k' },
    bodies: {
      'POST /api/ingest/benchmark': {
        run_id: 'demo-1',
        benchmark: 'gsm8k',
        split: 'test',
        step: 150,
        scores: [{ metric: 'exact_match', value: 0.712, n: 1319 }],
      },
      'PUT /api/benchmarks/{name}': {
        metric: 'exact_match',
        split: 'test',
        harness: { name: 'lm-eval', version: '0.4.9' },
      },
    },
  },
}
