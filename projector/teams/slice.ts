import { decisions } from '../decisions.ts'
import type { Slice } from '../slice.ts'
import { teamProjection } from './projection.ts'

export const teams: Slice = { name: 'teams', decisions: decisions(teamProjection) }
