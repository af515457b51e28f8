import { Type } from 'typebox'
import { nullable, oneOf } from '../schemas/shared.ts'
import type { Pool, TeamRole } from '../schemas/teams.ts'
import { aggregate, type EventOf, event } from './event.ts'

const named = { name: Type.String() }

/** The person who created the team is its first owner. */
export const teamCreated = event(
  'team.created',
  Type.Object({ ...named, owner: Type.String(), description: Type.String() }),
  ({ name, owner }, who) => `${who} created the team ${name} of ${owner}`,
)

export const teamChanged = event(
  'team.changed',
  Type.Object({ ...named, description: Type.String() }),
  ({ name }, who) => `${who} changed the description of team ${name}`,
)

/** What the jobs of a team may hold together, besides the quota of each person; null: no limit. */
export const teamPoolSet = event(
  'team.pool_set',
  Type.Object({
    ...named,
    max_concurrent_gpus: nullable(Type.Integer({ minimum: 0 })),
    max_concurrent_jobs: nullable(Type.Integer({ minimum: 0 })),
    /** For each UTC day. */
    daily_gpu_hours: nullable(Type.Number({ minimum: 0 })),
  }),
  ({ name, max_concurrent_gpus: gpus }, who) =>
    `${who} set the pool of team ${name} to ${gpus === null ? 'any number of' : gpus} GPUs`,
)

/** A person became a member, or a member's role changed. `source`: whether a person or the identity provider decided it. */
export const teamMemberSet = event(
  'team.member_set',
  Type.Object({
    ...named,
    username: Type.String(),
    role: oneOf('owner', 'maintainer', 'member', 'viewer'),
    source: oneOf('person', 'provider'),
  }),
  ({ name, username, role }, who) => `${who} made ${username} ${role} of team ${name}`,
)

export const teamMemberRemoved = event(
  'team.member_removed',
  Type.Object({ ...named, username: Type.String() }),
  ({ name, username }, who) => `${who} removed ${username} from team ${name}`,
)

/** People whose sign-in at the identity provider names the group get the role; from their next sign-in on. */
export const teamGroupSet = event(
  'team.group_set',
  Type.Object({
    ...named,
    group: Type.String(),
    role: oneOf('maintainer', 'member', 'viewer'),
  }),
  ({ name, group, role }, who) => `${who} made people of group ${group} ${role} of team ${name}`,
)

export const teamGroupRemoved = event(
  'team.group_removed',
  Type.Object({ ...named, group: Type.String() }),
  ({ name, group }, who) => `${who} took group ${group} off team ${name}`,
)

/** It owns nothing any more. Its name is not given to another team, because bills and jobs name it. */
export const teamDeleted = event(
  'team.deleted',
  Type.Object(named),
  ({ name }, who) => `${who} deleted the team ${name}`,
)

const events = [
  teamCreated,
  teamChanged,
  teamPoolSet,
  teamMemberSet,
  teamMemberRemoved,
  teamGroupSet,
  teamGroupRemoved,
  teamDeleted,
] as const
export type TeamEvent = EventOf<(typeof events)[number]>

export type Membership = { role: TeamRole; source: 'person' | 'provider' }
export type GroupRole = Exclude<TeamRole, 'owner'>

/** `members` are in the order in which they joined. */
export type LiveTeam = {
  description: string
  pool: Pool
  members: ReadonlyMap<string, Membership>
  groups: ReadonlyMap<string, GroupRole>
}

/** Null before it is created. */
export type Team = LiveTeam | 'deleted' | null

const noPool: Pool = { max_concurrent_gpus: null, max_concurrent_jobs: null, daily_gpu_hours: null }

function evolve(team: Team, event: TeamEvent): Team {
  if (event.type === 'team.created') {
    const { owner, description } = event.data
    const members = new Map([[owner, { role: 'owner', source: 'person' } as const]])
    return { description, pool: noPool, members, groups: new Map() }
  }
  if (event.type === 'team.deleted') return 'deleted'
  if (team === null || team === 'deleted')
    throw new Error(`${event.type} of a team that is not there`)
  return evolveLive(team, event)
}

type Later = Exclude<TeamEvent, { type: 'team.created' | 'team.deleted' }>

function evolveLive(team: LiveTeam, event: Later): LiveTeam {
  switch (event.type) {
    case 'team.changed':
      return { ...team, description: event.data.description }
    case 'team.pool_set': {
      const { name: _, ...pool } = event.data
      return { ...team, pool }
    }
    case 'team.member_set': {
      const { username, role, source } = event.data
      return { ...team, members: new Map(team.members).set(username, { role, source }) }
    }
    case 'team.member_removed':
      return { ...team, members: without(team.members, event.data.username) }
    case 'team.group_set': {
      const { group, role } = event.data
      return { ...team, groups: new Map(team.groups).set(group, role) }
    }
    case 'team.group_removed':
      return { ...team, groups: without(team.groups, event.data.group) }
  }
}

const without = <V>(all: ReadonlyMap<string, V>, name: string): ReadonlyMap<string, V> =>
  new Map([...all].filter(([one]) => one !== name))

export const teams = aggregate('team', { events, initial: null, evolve })
export const teamAt = (name: string) => teams.at(name)
