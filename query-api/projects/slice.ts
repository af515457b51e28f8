import type { AccessTables } from '../rules/access.ts'
import type { Slice } from '../slice.ts'
import { projectRoutes } from './routes.ts'

export const projects: Slice<AccessTables> = {
  name: 'projects',
  routes: ({ reads }) => projectRoutes(reads),
}
