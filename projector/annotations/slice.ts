import { decisions } from '../decisions.ts'
import type { Slice } from '../slice.ts'
import { annotationProjection } from './projection.ts'

export const annotations: Slice = {
  name: 'annotations',
  decisions: decisions(annotationProjection),
}
