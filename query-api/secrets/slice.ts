import type { Slice } from '../slice.ts'
import { secretRoutes, type Tables } from './routes.ts'

export const secrets: Slice<Tables> = {
  name: 'secrets',
  routes: ({ reads }) => secretRoutes(reads),
}
