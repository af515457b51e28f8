import type { Slice } from '../slice.ts'
import { environmentRoutes, type Tables } from './routes.ts'

export const environment: Slice<Tables> = {
  name: 'environment',
  routes: ({ reads }) => environmentRoutes(reads),
}
