import type { ProjectEvent } from '../../events/projects.ts'
import type { Handlers } from '../projection.ts'
import type { ProjectTables } from './table.ts'

export const projectProjection: Handlers<ProjectTables, ProjectEvent> = {
  'project.created': (tx, { data, occurred_at }) =>
    tx
      .insertInto('projects')
      .values({ ...data, created_at: occurred_at })
      .execute(),
}
