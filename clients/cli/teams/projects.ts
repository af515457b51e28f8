import { segment } from '../api/client.ts'
import { describe } from '../program/describe.ts'
import { request } from '../program/request.ts'
import { oneTeam } from './paths.ts'

const teamOf = (project = '') => `/api/projects/${segment(project)}/team`

type Moved = { project: string; team: string | null; owner: string; changed: boolean }

export const describeTeamMove = describe({
  text: 'move a project to a team; the roles in the team then apply to it',
  operands: { ...oneTeam, '<project>': 'one that you own' },
})

export const teamMove = request<Moved>({
  send: ({ api }, _, team, project) => api.put<Moved>(teamOf(project), { team }),
  note: ({ project, team, changed }) =>
    `${project} belongs to team ${team} ${changed ? 'now' : 'already'}`,
})

export const describeTeamTakeOut = describe({
  text: 'take a project out of its team; it belongs to its owner then',
  operands: { '<project>': '' },
})

export const teamTakeOut = request<Moved>({
  send: ({ api }, _, project) => api.put<Moved>(teamOf(project), { team: null }),
  note: ({ project, owner }) => `${project} belongs to ${owner} now, and to no team`,
})
