import type { Slice } from '../slice.ts'
import { hubPushRoutes, type Tables } from './routes.ts'
import { pushTopic } from './topic.ts'

export const hubPushes: Slice<Tables> = {
  name: 'hub-pushes',
  topic: { place: 6, of: pushTopic },
  routes: ({ reads }) => hubPushRoutes(reads),
}
