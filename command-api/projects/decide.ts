import type { Project, ProjectEvent } from '../../events/projects.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { MemberRole, ProjectPatch } from '../../schemas/projects.ts'
import { type Asking, judge, rolesIn } from '../rules/access.ts'

/** The caller, their role in the project as a member of its team, and the project. */
export type Asked = { caller: Asking; name: string; teamRole: MemberRole | null }

/** Absent settings keep their value. Idempotent: unchanged settings append no event. */
export function changeSettings(
  project: Project,
  asked: Asked,
  patch: ProjectPatch,
): ProjectEvent[] {
  const { visibility: before, notes: noted } = configurable(project, asked)
  const { visibility = before, notes = noted } = patch
  if (visibility === before && notes === noted) return []
  return [{ type: 'project.changed', data: { name: asked.name, visibility, notes } }]
}

export function setMember(
  project: Project,
  asked: Asked,
  { username, role }: { username: string; role: MemberRole },
): ProjectEvent[] {
  const { members } = withoutOwner(configurable(project, asked), asked, username)
  if (members.get(username) === role) return []
  return [{ type: 'project.member_set', data: { name: asked.name, username, role } }]
}

export function removeMember(project: Project, asked: Asked, username: string): ProjectEvent[] {
  const { members } = withoutOwner(configurable(project, asked), asked, username)
  if (!members.has(username))
    throw new Refusal('not_found', `${username} is not a member of project ${asked.name}`)
  return [{ type: 'project.member_removed', data: { name: asked.name, username } }]
}

/** Null as `team`: it belongs to its owner alone. The roles of the caller in both teams are judged by the route. */
export function transferProject(
  project: Project,
  asked: Asked,
  { team, owner }: { team: string | null; owner: string | undefined },
): ProjectEvent[] {
  const { caller, name } = asked
  const before = configurable(project, asked)
  if (before.team === null && before.owner !== caller.username && caller.role !== 'admin')
    throw new Refusal(
      'forbidden',
      `Only ${before.owner} and admins may give project ${name} to a team`,
    )
  const next = owner ?? before.owner
  if (before.team === team && before.owner === next) return []
  return [{ type: 'project.transferred', data: { name, team, owner: next } }]
}

type Existing = NonNullable<Project>

/** The project, if the caller may change it; to people who may not read it, it looks missing. */
function configurable(project: Project, asked: Asked): Existing {
  const { name } = asked
  const verdict = project ? judge(rolesOf(project, asked), 'configure') : 'hidden'
  if (!project || verdict === 'hidden') throw new Refusal('not_found', `No such project: ${name}`)
  if (verdict === 'forbidden')
    throw new Refusal(
      'forbidden',
      `Only ${project.owner}, maintainers and admins may change project ${name}`,
    )
  return project
}

const rolesOf = ({ owner, visibility, members }: Existing, { caller, teamRole }: Asked) => [
  ...rolesIn({ owner, visibility, memberRole: members.get(caller.username) ?? null }, caller),
  ...(teamRole === null ? [] : [teamRole]),
]

function withoutOwner(project: Existing, { name }: Asked, username: string): Existing {
  if (project.owner === username)
    throw new Refusal(
      'conflict',
      `${username} owns project ${name}, and an owner can be neither removed nor given another role`,
    )
  return project
}
