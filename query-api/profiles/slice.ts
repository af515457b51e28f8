import type { Slice } from '../slice.ts'
import { profileRoutes } from './routes.ts'

export const profiles: Slice = {
  name: 'profiles',
  routes: ({ pool }) => profileRoutes(pool),
}
