import type { Sample } from './sample.ts'

/** A member of every project, so that one reader sees all rows of projects. */
export const member = 'mia'

export const projectSample: Sample = {
  slice: 'projects',
  things: { project: 'select name, name, null, owner, name, visibility, false from write.project' },
  async make({ ask, friend, made }) {
    const name = String(made.fields.project)
    await ask({
      method: 'PUT',
      path: `/api/projects/${name}/members/${friend}`,
      body: { role: 'viewer' },
    })
    return { nouns: { projects: { name }, members: { username: friend } } }
  },
  missing(_, whose) {
    const name = `project-of-${whose}`
    return { nouns: { projects: { name } }, fields: { project: name } }
  },
  hidden: ['projects'],
  pages: ([{ short_id }]) => [`/projects/${short_id.replace(/-\d+$/, '')}`],
  lists: { '/api/projects': 'its people' },
  tables: {
    projects: {
      seenBy: 'members',
      isFilled: true,
      cells: ({ project }) => ({ name: project, visibility: 'private' }),
    },
    project_members: {
      seenBy: 'members',
      isFilled: true,
      cells: () => ({ username: member, role: 'viewer' }),
    },
    project_people: { seenBy: 'members', isFilled: true },
  },
  publish: ({ project }) =>
    `update read.projects set visibility = 'internal' where name = '${project}'`,
  changes: {
    'PATCH /api/projects/{name}': { body: () => ({ notes: 'noted' }) },
    'PUT /api/projects/{name}/members/{username}': { body: () => ({ role: 'maintainer' }) },
    'PUT /api/projects/{name}/team': {
      body: ({ fixtures }) => ({ team: fixtures.operator.nouns.teams?.name }),
    },
  },
}
