import { decisions } from '../decisions.ts'
import type { Slice } from '../slice.ts'
import { modelProjection } from './projection.ts'

export const models: Slice = { name: 'models', decisions: decisions(modelProjection) }
