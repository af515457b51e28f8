import type { BenchmarkTables } from '../../projector/benchmarks/table.ts'
import { benchmarkPath } from '../../schemas/benchmarks/catalogue.ts'
import type { AccessTables } from '../rules/access.ts'
import type { Slice } from '../slice.ts'
import { catalogueRoutes } from './catalogue.ts'
import { benchmarkRoutes } from './routes.ts'

export const benchmarks: Slice<BenchmarkTables & AccessTables> = {
  name: 'benchmarks',
  routes: ({ reads }) => [...benchmarkRoutes(reads), ...catalogueRoutes(reads)],
  pages: [
    { path: '/benchmarks', summary: 'Benchmarks' },
    {
      path: '/benchmarks/{name}',
      summary: 'The leaderboard of a benchmark',
      params: benchmarkPath,
    },
  ],
}
