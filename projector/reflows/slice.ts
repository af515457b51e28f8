import { decisions } from '../decisions.ts'
import type { Slice } from '../slice.ts'
import { reflowProjection } from './projection.ts'

export const reflows: Slice = {
  name: 'reflows',
  decisions: decisions(reflowProjection),
}
