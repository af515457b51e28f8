import type { Slice } from '../slice.ts'
import { hardwareProjection } from './projection.ts'

export const hardware: Slice = {
  name: 'hardware',
  facts: topics => hardwareProjection(topics.hardware.name),
}
