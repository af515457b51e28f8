import { segment } from '../api/client.ts'
import { describe } from '../program/describe.ts'
import { request } from '../program/request.ts'
import type { CommonOptions, Flags } from '../program/session.ts'
import { oneTeam, pathOfTeam } from './paths.ts'

const memberAt = (team?: string, username = '') =>
  `${pathOfTeam(team)}/members/${segment(username)}`

const operands = { ...oneTeam, '<username>': '' }

export const describeTeamMemberSet = describe({
  text: 'add a member, or change the role of one',
  operands,
  options: {
    '-r, --role <role>': {
      text: 'viewers read, members also submit, maintainers also stop jobs and manage members, owners do everything',
      choices: ['viewer', 'member', 'maintainer', 'owner'],
      fallback: 'member',
    },
  },
})

type Set = { role: string; changed: boolean }

export const teamMemberSet = request<Set, CommonOptions & { role: string }>({
  send: ({ api }, { role }, team, username) => api.put<Set>(memberAt(team, username), { role }),
  note: ({ changed, role }, _, team, username) =>
    `${username} is ${changed ? 'now' : 'already'} ${role} of team ${team}`,
})

export const describeTeamMemberRemove = describe({
  text: 'end a membership; projects of the team that the person owns get another owner',
  operands,
})

export const teamMemberRemove = request({
  send: ({ api }, _, team, username) => api.delete(memberAt(team, username)),
  note: (_, __, team, username) => `${username} is no longer in team ${team}`,
})

export const describeTeamGroup = describe({
  text: 'make people of a group of the identity provider members, as an administrator',
  operands: { ...oneTeam, '<group>': 'as the provider names it' },
  options: {
    '-r, --role <role>': {
      text: 'their role, from their next sign-in on',
      choices: ['viewer', 'member', 'maintainer'],
      fallback: 'member',
    },
    '--remove': 'take the group off the team',
  },
})

export const teamGroup = request<object, CommonOptions & Flags<'remove'> & { role: string }>({
  send: ({ api }, { role, remove }, team, group = '') => {
    const at = `${pathOfTeam(team)}/groups/${segment(group)}`
    return remove ? api.delete<object>(at) : api.put<object>(at, { role })
  },
  note: (reply, _, team, group) =>
    'role' in reply
      ? `People of group ${group} become ${reply.role} of team ${team} when they next sign in`
      : `Group ${group} is no longer mapped to team ${team}`,
})
