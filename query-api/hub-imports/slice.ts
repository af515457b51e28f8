import type { Slice } from '../slice.ts'
import { hubImportRoutes, hubRoute, type Tables } from './routes.ts'
import { importTopic } from './topic.ts'

export const hubImports: Slice<Tables> = {
  name: 'hub-imports',
  topic: { place: 5, of: importTopic },
  routes: ({ reads, hubEndpoint }) => [...hubImportRoutes(reads), hubRoute(hubEndpoint)],
  pages: [{ path: '/hub-imports', summary: 'Models imported from the hub, and sent to it' }],
}
