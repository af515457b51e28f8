import { decisions } from '../decisions.ts'
import type { Slice } from '../slice.ts'
import { viewProjection } from './projection.ts'

export const views: Slice = { name: 'views', decisions: decisions(viewProjection) }
