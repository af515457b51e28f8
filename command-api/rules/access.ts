import type { MemberRole, Visibility } from '../../schemas/projects.ts'

/**
 * A person's role in a project or towards one of its runs; a person may have several. `submitter` owns the run;
 * `guest` is any signed-in person if the project is internal.
 */
export type ProjectRole = 'admin' | 'owner' | MemberRole | 'submitter' | 'guest'

/**
 * `submit`: start runs and jobs in the project; `control`: stop, pause and resume a job, delete and restore a run, delete its artifacts;
 * `issue_token`: issue a run's ingest token; `configure`: change the project's settings and members.
 */
export type Action = 'read' | 'submit' | 'control' | 'issue_token' | 'configure'

/**
 * Permissions by role (docs/use/projects.md). An ingest token acts as the run, so not even admins may issue
 * another's.
 */
export const permitted: Record<ProjectRole, readonly Action[]> = {
  admin: ['read', 'submit', 'control', 'configure'],
  owner: ['read', 'submit', 'control', 'configure'],
  maintainer: ['read', 'submit', 'control', 'configure'],
  member: ['read', 'submit'],
  viewer: ['read'],
  submitter: ['read', 'control', 'issue_token'],
  guest: ['read'],
}

export type Asking = { username: string; role: 'admin' | 'operator' }

export type ProjectFacts = {
  owner: string
  visibility: Visibility
  /** The caller's role as a member; null if not a member. */
  memberRole: MemberRole | null
}

export function rolesIn(
  { owner, visibility, memberRole }: ProjectFacts,
  { username, role }: Asking,
  run?: { owner: string },
): ProjectRole[] {
  const roles: ProjectRole[] = []
  if (role === 'admin') roles.push('admin')
  if (owner === username) roles.push('owner')
  if (memberRole !== null) roles.push(memberRole)
  if (run?.owner === username) roles.push('submitter')
  if (visibility === 'internal') roles.push('guest')
  return roles
}

/** `hidden`: it must look missing to this person; `forbidden`: they may read it, but not do that. */
export type Verdict = 'permitted' | 'forbidden' | 'hidden'

export function judge(roles: readonly ProjectRole[], action: Action): Verdict {
  const may = (wanted: Action) => roles.some(projectRole => permitted[projectRole].includes(wanted))
  if (may(action)) return 'permitted'
  return may('read') ? 'forbidden' : 'hidden'
}
