import { decisions } from '../decisions.ts'
import type { Slice } from '../slice.ts'
import { hubPushProjection } from './projection.ts'

export const hubPushes: Slice = {
  name: 'hub-pushes',
  decisions: decisions(hubPushProjection),
}
