import type { Slice } from '../slice.ts'
import { hubPushRoutes, type Tables } from './routes.ts'

export const hubPushes: Slice<Tables> = {
  name: 'hub-pushes',
  routes: ({ reads }) => hubPushRoutes(reads),
}
