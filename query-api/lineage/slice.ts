import type { Slice } from '../slice.ts'
import { lineageRoutes } from './routes.ts'
import type { Tables } from './things.ts'

export const lineage: Slice<Tables> = {
  name: 'lineage',
  routes: ({ reads }) => lineageRoutes(reads),
}
