import { decisions } from '../decisions.ts'
import type { Slice } from '../slice.ts'
import { labelProjection } from './projection.ts'

export const labels: Slice = { name: 'labels', decisions: decisions(labelProjection) }
