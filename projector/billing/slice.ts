import { decisions } from '../decisions.ts'
import type { Slice } from '../slice.ts'
import { billingProjection } from './projection.ts'

export const billing: Slice = { name: 'billing', decisions: decisions(billingProjection) }
