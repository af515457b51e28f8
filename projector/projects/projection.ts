import type { ProjectEvent } from '../../events/projects.ts'
import type { Handlers } from '../projection.ts'
import type { ProjectTables } from './table.ts'

export const projectProjection: Handlers<ProjectTables, ProjectEvent> = {
  'project.created': (tx, { data, occurred_at }) =>
    tx
      .insertInto('projects')
      .values({ ...data, created_at: occurred_at })
      .execute(),
  'project.changed': (tx, { data: { name, ...settings } }) =>
    tx.updateTable('projects').set(settings).where('name', '=', name).execute(),
  'project.member_set': (tx, { data: { name, username, role }, occurred_at }) =>
    tx
      .insertInto('project_members')
      .values({ project: name, username, role, since: occurred_at })
      .onConflict(on => on.columns(['project', 'username']).doUpdateSet({ role }))
      .execute(),
  async 'project.transferred'(tx, { data: { name, team, owner } }) {
    await tx.updateTable('projects').set({ team, owner }).where('name', '=', name).execute()
    await tx
      .deleteFrom('project_members')
      .where('project', '=', name)
      .where('username', '=', owner)
      .execute()
  },
  'project.member_removed': (tx, { data: { name, username } }) =>
    tx
      .deleteFrom('project_members')
      .where('project', '=', name)
      .where('username', '=', username)
      .execute(),
}
