import type { MemberRole, Visibility } from '../schemas/projects.ts'

/**
 * What a person is to a project and to one of its runs; one may be several at once. `submitter`: owns the run in
 * question; `guest`: any signed-in person, where the project is internal.
 */
export type Standing = 'admin' | 'owner' | MemberRole | 'submitter' | 'guest'

/**
 * `submit`: begin runs and jobs in the project; `control`: stop, pause and resume a job; `issue_token`: a run's
 * ingest token; `configure`: the project's settings and members.
 */
export type Action = 'read' | 'submit' | 'control' | 'issue_token' | 'configure'

/** Who may do what (docs/projects.md). A token speaks as the run, so not even admins take one of another's. */
export const permitted: Record<Standing, readonly Action[]> = {
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
  /** What the asking person is in it; null for no member. */
  memberRole: MemberRole | null
}

export function standingsIn(
  { owner, visibility, memberRole }: ProjectFacts,
  { username, role }: Asking,
  run?: { owner: string },
): Standing[] {
  const standings: Standing[] = []
  if (role === 'admin') standings.push('admin')
  if (owner === username) standings.push('owner')
  if (memberRole !== null) standings.push(memberRole)
  if (run?.owner === username) standings.push('submitter')
  if (visibility === 'internal') standings.push('guest')
  return standings
}

/** `hidden`: to this person there is no such thing; `forbidden`: they may read it, but not do that. */
export type Verdict = 'permitted' | 'forbidden' | 'hidden'

export function judge(standings: readonly Standing[], action: Action): Verdict {
  const may = (wanted: Action) => standings.some(standing => permitted[standing].includes(wanted))
  if (may(action)) return 'permitted'
  return may('read') ? 'forbidden' : 'hidden'
}
