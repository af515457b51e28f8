import type { Slice } from '../slice.ts'
import { keyRoutes } from './routes.ts'

export const keys: Slice = {
  name: 'keys',
  routes: keyRoutes,
  kind: null,
  announces: {
    keys: 'nothing',
  },
  unprojected: ['signing_key.rotated'],
}
