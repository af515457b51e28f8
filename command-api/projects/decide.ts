import type { Project, ProjectEvent } from '../../events/projects.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { MemberRole, ProjectPatch } from '../../schemas/projects.ts'
import { type Asking, judge, rolesIn } from '../rules/access.ts'

/** The caller and the project. */
export type Asked = { caller: Asking; name: string }

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

type Existing = NonNullable<Project>

/** The project, if the caller may change it; to people who may not read it, it looks missing. */
function configurable(project: Project, { caller, name }: Asked): Existing {
  const verdict = project ? judge(rolesOf(project, caller), 'configure') : 'hidden'
  if (!project || verdict === 'hidden') throw new Refusal('not_found', `No such project: ${name}`)
  if (verdict === 'forbidden')
    throw new Refusal(
      'forbidden',
      `Only ${project.owner}, maintainers and admins may change project ${name}`,
    )
  return project
}

const rolesOf = ({ owner, visibility, members }: Existing, caller: Asking) =>
  rolesIn({ owner, visibility, memberRole: members.get(caller.username) ?? null }, caller)

function withoutOwner(project: Existing, { name }: Asked, username: string): Existing {
  if (project.owner === username)
    throw new Refusal(
      'conflict',
      `${username} owns project ${name}, and an owner can be neither removed nor given another role`,
    )
  return project
}
