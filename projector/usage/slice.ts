import { decisions } from '../decisions.ts'
import type { Slice } from '../slice.ts'
import { newAccounts, usageProjection } from './projection.ts'

export const usage: Slice = { name: 'usage', decisions: decisions(usageProjection, newAccounts) }
