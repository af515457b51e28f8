import { decisions } from '../decisions.ts'
import type { Slice } from '../slice.ts'
import { volumeProjection } from './projection.ts'

export const volumes: Slice = {
  name: 'volumes',
  decisions: decisions(volumeProjection),
}
