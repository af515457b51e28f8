import { decisions } from '../decisions.ts'
import type { Slice } from '../slice.ts'
import { deploymentProjection } from './projection.ts'

export const deployments: Slice = {
  name: 'deployments',
  decisions: decisions(deploymentProjection),
}
