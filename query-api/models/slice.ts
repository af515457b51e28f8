import type { Slice } from '../slice.ts'
import type { Tables } from './find.ts'
import { modelRoutes } from './routes.ts'

export const models: Slice<Tables> = {
  name: 'models',
  routes: ({ reads }) => modelRoutes(reads),
}
