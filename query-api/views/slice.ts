import type { Slice } from '../slice.ts'
import { type Tables, viewRoutes } from './routes.ts'

export const views: Slice<Tables> = {
  name: 'views',
  routes: ({ reads }) => viewRoutes(reads),
}
