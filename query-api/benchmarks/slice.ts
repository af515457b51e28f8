import type { BenchmarkTables } from '../../projector/benchmarks/table.ts'
import type { AccessTables } from '../rules/access.ts'
import type { Slice } from '../slice.ts'
import { benchmarkRoutes } from './routes.ts'

export const benchmarks: Slice<BenchmarkTables & AccessTables> = {
  name: 'benchmarks',
  routes: ({ reads }) => benchmarkRoutes(reads),
}
