import type { Slice } from '../slice.ts'
import { hubImportRoutes, hubRoute, type Tables } from './routes.ts'

export const hubImports: Slice<Tables> = {
  name: 'hub-imports',
  routes: ({ reads, hubEndpoint }) => [...hubImportRoutes(reads), hubRoute(hubEndpoint)],
  pages: [{ path: '/hub-imports', summary: 'Models imported from the hub, and sent to it' }],
}
