import { decisions } from '../decisions.ts'
import type { Slice } from '../slice.ts'
import { datasetProjection } from './projection.ts'

export const datasets: Slice = { name: 'datasets', decisions: decisions(datasetProjection) }
