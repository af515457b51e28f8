import type { GroupRole, LiveTeam, Membership, Team, TeamEvent } from '../../events/teams.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { Pool, TeamPatch, TeamRole } from '../../schemas/teams.ts'
import type { Asking } from '../rules/access.ts'

/** The caller and the team. */
export type Asked = { caller: Asking; name: string }

/** Members and groups of one team. */
const mostMembers = 1000
const mostGroups = 100

export function createTeam(team: Team, { caller, name }: Asked, description: string): TeamEvent[] {
  if (team !== null)
    throw new Refusal('conflict', `The name ${name} is taken`, {
      code: 'team.exists',
      hint: 'Names of deleted teams are not given away again',
    })
  return [{ type: 'team.created', data: { name, owner: caller.username, description } }]
}

/** Absent settings keep their value. Idempotent: unchanged settings append no event. */
export function changeTeam(team: Team, asked: Asked, patch: TeamPatch): TeamEvent[] {
  const { name } = asked
  const found = patch.pool ? forAdmins(team, asked) : forOwners(team, asked)
  const description = patch.description ?? found.description
  const pool = { ...found.pool, ...patch.pool }
  return [
    ...(description === found.description
      ? []
      : [{ type: 'team.changed', data: { name, description } } as const]),
    ...(isSamePool(pool, found.pool)
      ? []
      : [{ type: 'team.pool_set', data: { name, ...pool } } as const]),
  ]
}

const isSamePool = (one: Pool, other: Pool): boolean =>
  one.max_concurrent_gpus === other.max_concurrent_gpus &&
  one.max_concurrent_jobs === other.max_concurrent_jobs &&
  one.daily_gpu_hours === other.daily_gpu_hours

export function setMember(
  team: Team,
  asked: Asked,
  { username, role }: { username: string; role: TeamRole },
): TeamEvent[] {
  const found = forManagers(team, asked, [roleOf(team, username), role])
  const before = found.members.get(username)
  if (before?.role === role && before.source === 'person') return []
  if (!before && found.members.size >= mostMembers)
    throw new Refusal('conflict', `A team has at most ${mostMembers} members`, {
      code: 'team.full',
    })
  if (role !== 'owner') keepAnOwner(found, asked, username)
  return [{ type: 'team.member_set', data: { name: asked.name, username, role, source: 'person' } }]
}

/** `username` may be the caller, who leaves. */
export function removeMember(team: Team, asked: Asked, username: string): TeamEvent[] {
  const { caller, name } = asked
  const isLeaving = caller.username === username && roleOf(team, username) !== null
  const found = isLeaving
    ? existing(team, asked)
    : forManagers(team, asked, [roleOf(team, username)])
  if (!found.members.has(username) && caller.username === username)
    throw new Refusal('conflict', `You are not a member of team ${name}`, {
      code: 'team.no_member',
    })
  if (!found.members.has(username))
    throw new Refusal('not_found', `${username} is not a member of team ${name}`)
  keepAnOwner(found, asked, username)
  return [{ type: 'team.member_removed', data: { name, username } }]
}

export function setGroup(
  team: Team,
  asked: Asked,
  { group, role }: { group: string; role: GroupRole },
): TeamEvent[] {
  const { groups } = forAdmins(team, asked)
  if (groups.get(group) === role) return []
  if (!groups.has(group) && groups.size >= mostGroups)
    throw new Refusal('conflict', `A team has at most ${mostGroups} groups`, { code: 'team.full' })
  return [{ type: 'team.group_set', data: { name: asked.name, group, role } }]
}

/** Its people stay members until their next sign-in. */
export function removeGroup(team: Team, asked: Asked, group: string): TeamEvent[] {
  if (!forAdmins(team, asked).groups.has(group))
    throw new Refusal('not_found', `Group ${group} is not mapped to team ${asked.name}`)
  return [{ type: 'team.group_removed', data: { name: asked.name, group } }]
}

export function deleteTeam(team: Team, asked: Asked): TeamEvent[] {
  forOwners(team, asked)
  return [{ type: 'team.deleted', data: { name: asked.name } }]
}

/** What a sign-in changes: null if the groups of the person no longer make them a member. A role that a person gave stays. */
export function applyGroups(
  team: Team,
  { name, username }: { name: string; username: string },
  role: GroupRole | null,
): TeamEvent[] {
  if (team === null || team === 'deleted') return []
  const before = team.members.get(username)
  if (before?.source === 'person') return []
  if (role === null)
    return before ? [{ type: 'team.member_removed', data: { name, username } }] : []
  if (before?.role === role || (!before && team.members.size >= mostMembers)) return []
  return [{ type: 'team.member_set', data: { name, username, role, source: 'provider' } }]
}

const roleOf = (team: Team, username: string): TeamRole | null =>
  (isThere(team) && team.members.get(username)?.role) || null

const isThere = (team: Team): team is LiveTeam => team !== null && team !== 'deleted'

/** The team; to people who are not in it, it looks missing. */
function existing(team: Team, { caller, name }: Asked): LiveTeam {
  if (!isThere(team) || (caller.role !== 'admin' && roleOf(team, caller.username) === null))
    throw noSuchTeam(name)
  return team
}

export const noSuchTeam = (name: string): Refusal =>
  new Refusal('not_found', `No such team: ${name}`)

function forOwners(team: Team, asked: Asked): LiveTeam {
  const found = existing(team, asked)
  const { caller, name } = asked
  if (caller.role !== 'admin' && roleOf(team, caller.username) !== 'owner')
    throw new Refusal('forbidden', `Only its owners and admins may change team ${name}`)
  return found
}

function forAdmins(team: Team, asked: Asked): LiveTeam {
  const found = existing(team, asked)
  if (asked.caller.role !== 'admin')
    throw new Refusal(
      'forbidden',
      `Only admins may set the pool and the groups of team ${asked.name}`,
    )
  return found
}

/** Maintainers manage members and viewers, not each other: `roles` are taken or given by the change. */
function forManagers(team: Team, asked: Asked, roles: readonly (TeamRole | null)[]): LiveTeam {
  const found = existing(team, asked)
  const { caller, name } = asked
  const own = roleOf(team, caller.username)
  if (caller.role === 'admin' || own === 'owner') return found
  const isLow = roles.every(role => role !== 'owner' && role !== 'maintainer')
  if (own !== 'maintainer' || !isLow)
    throw new Refusal(
      'forbidden',
      own === 'maintainer'
        ? `Only owners of team ${name} and admins may change its owners and maintainers`
        : `Only owners and maintainers of team ${name} and admins may change its members`,
    )
  return found
}

function keepAnOwner({ members }: LiveTeam, { name }: Asked, username: string): void {
  const isOwner = ({ role }: Membership) => role === 'owner'
  const others = [...members].some(([one, member]) => one !== username && isOwner(member))
  const before = members.get(username)
  if (before && isOwner(before) && !others)
    throw new Refusal('conflict', `${username} is the last owner of team ${name}`, {
      code: 'team.last_owner',
      hint: 'Make another member an owner first, or delete the team',
    })
}
