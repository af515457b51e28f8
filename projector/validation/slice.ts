import type { Slice } from '../slice.ts'
import { validationProjection } from './projection.ts'

export const validation: Slice = {
  name: 'validation',
  facts: topics => validationProjection(topics.validation.name),
}
