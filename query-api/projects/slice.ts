import { projectPath } from '../../schemas/projects.ts'
import type { AccessTables } from '../rules/access.ts'
import type { Slice } from '../slice.ts'
import { projectRoutes } from './routes.ts'

export const projects: Slice<AccessTables> = {
  name: 'projects',
  routes: ({ reads }) => projectRoutes(reads),
  pages: [
    { path: '/projects', summary: 'The projects one may read' },
    { path: '/projects/{name}', summary: 'The workspace of a project', params: projectPath },
  ],
}
