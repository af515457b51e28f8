import type { Slice } from '../slice.ts'
import { sessionRoutes, type Tables } from './routes.ts'

export const sessions: Slice<Tables> = {
  name: 'sessions',
  routes: sessionRoutes,
}
