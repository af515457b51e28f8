import { decisions } from '../decisions.ts'
import type { Slice } from '../slice.ts'
import { environmentProjection } from './projection.ts'

export const environment: Slice = {
  name: 'environment',
  decisions: decisions(environmentProjection),
}
