import { decisions } from '../decisions.ts'
import type { Slice } from '../slice.ts'
import { quotaProjection } from './projection.ts'

export const quotas: Slice = { name: 'quotas', decisions: decisions(quotaProjection) }
