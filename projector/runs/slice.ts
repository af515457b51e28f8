import { decisions } from '../decisions.ts'
import type { Slice } from '../slice.ts'
import { newRuns, runProjection } from './projection.ts'

export const runs: Slice = { name: 'runs', decisions: decisions(runProjection, newRuns) }
