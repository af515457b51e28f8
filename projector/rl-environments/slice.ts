import { decisions } from '../decisions.ts'
import type { Slice } from '../slice.ts'
import { rlEnvironmentProjection } from './projection.ts'

export const rlEnvironments: Slice = {
  name: 'rl-environments',
  decisions: decisions(rlEnvironmentProjection),
}
