import { decisions } from '../decisions.ts'
import type { Slice } from '../slice.ts'
import { rubricProjection } from './projection.ts'

export const rubrics: Slice = { name: 'rubrics', decisions: decisions(rubricProjection) }
