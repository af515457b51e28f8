import { decisions } from '../decisions.ts'
import type { Slice } from '../slice.ts'
import { projectProjection } from './projection.ts'

export const projects: Slice = { name: 'projects', decisions: decisions(projectProjection) }
