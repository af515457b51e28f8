import { decisions } from '../decisions.ts'
import type { Slice } from '../slice.ts'
import { benchmarkProjection } from './projection.ts'

export const benchmarks: Slice = { name: 'benchmarks', decisions: decisions(benchmarkProjection) }
