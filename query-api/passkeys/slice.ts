import type { Slice } from '../slice.ts'
import { passkeyRoutes } from './routes.ts'

export const passkeys: Slice = {
  name: 'passkeys',
  routes: ({ pool }) => passkeyRoutes(pool),
}
