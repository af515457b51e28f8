import type { Slice } from '../slice.ts'
import { deviceRoutes } from './routes.ts'

export const devices: Slice = {
  name: 'devices',
  routes: ({ pool, now }) => deviceRoutes(pool, now),
  pages: [
    {
      path: '/device',
      summary: 'Where a person approves a sign-in that began elsewhere (RFC 8628)',
    },
  ],
}
