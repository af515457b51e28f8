import { decisions } from '../decisions.ts'
import type { Slice } from '../slice.ts'
import { planProjection } from './projection.ts'

export const plans: Slice = { name: 'plans', decisions: decisions(planProjection) }
