import type { Slice } from '../slice.ts'
import { metricsProjection } from './projection.ts'

export const metrics: Slice = {
  name: 'metrics',
  facts: topics => metricsProjection(topics.metrics.name),
}
