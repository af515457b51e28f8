import type { Slice } from '../slice.ts'
import { projectKind } from './kind.ts'
import { projectRoutes } from './routes.ts'

export const projects: Slice = {
  name: 'projects',
  routes: projectRoutes,
  kind: projectKind,
  announces: {
    project: 'nothing',
  },
  tables: ['write.project', 'write.project_member', 'write.project_person'],
  examples: {
    paths: { 'projects.name': 'demo', 'members.username': 'ada' },
    bodies: {
      'PATCH /api/projects/{name}': { visibility: 'internal' },
      'PUT /api/projects/{name}/members/{username}': { role: 'member' },
      'PUT /api/projects/{name}/team': { team: 'rl' },
    },
  },
}
