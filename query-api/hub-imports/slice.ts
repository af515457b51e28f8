import type { Slice } from '../slice.ts'
import { hubImportRoutes, type Tables } from './routes.ts'

export const hubImports: Slice<Tables> = {
  name: 'hub-imports',
  routes: ({ reads }) => hubImportRoutes(reads),
  pages: [{ path: '/hub-imports', summary: 'Models imported from the hub' }],
}
