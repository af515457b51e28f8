import type { Slice } from '../slice.ts'
import type { Tables } from './reader.ts'
import { hubRoutes } from './routes.ts'

export const hubFacade: Slice<Tables> = {
  name: 'hub-facade',
  routes: ({ reads, pool, contents: { baseUrl, store }, ...ports }) =>
    hubRoutes({ ...ports, reads, pool, baseUrl, store }),
}
