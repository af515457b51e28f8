import type { Slice } from '../slice.ts'
import { hardwareRoutes, type Tables } from './routes.ts'

export const hardware: Slice<Tables> = {
  name: 'hardware',
  routes: ({ reads }) => hardwareRoutes(reads),
}
