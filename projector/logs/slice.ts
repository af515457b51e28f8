import type { Slice } from '../slice.ts'
import { logsProjection } from './projection.ts'

export const logs: Slice = {
  name: 'logs',
  facts: topics => logsProjection(topics.logs.name),
}
