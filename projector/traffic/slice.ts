import type { Slice } from '../slice.ts'
import { trafficProjection } from './projection.ts'

export const traffic: Slice = {
  name: 'traffic',
  facts: topics => trafficProjection(topics.traffic.name),
}
