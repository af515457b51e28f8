import { decisions } from '../decisions.ts'
import type { Slice } from '../slice.ts'
import { alertProjection } from './projection.ts'

export const alerts: Slice = { name: 'alerts', decisions: decisions(alertProjection) }
