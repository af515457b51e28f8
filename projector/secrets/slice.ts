import { decisions } from '../decisions.ts'
import type { Slice } from '../slice.ts'
import { secretProjection } from './projection.ts'

export const secrets: Slice = { name: 'secrets', decisions: decisions(secretProjection) }
