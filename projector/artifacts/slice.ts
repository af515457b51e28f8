import { decisions } from '../decisions.ts'
import type { Slice } from '../slice.ts'
import { artifactProjection } from './projection.ts'

export const artifacts: Slice = { name: 'artifacts', decisions: decisions(artifactProjection) }
