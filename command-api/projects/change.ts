import type { Person } from '../../auth/caller.ts'
import { type Project, type ProjectEvent, projectAt } from '../../events/projects.ts'
import type { MemberRole } from '../../schemas/projects.ts'
import type { HttpAsked } from '../commit/asked.ts'
import { commit, type Decision } from '../commit/commit.ts'
import type { Deps } from '../deps.ts'
import { teamRoleIn } from '../rules/teams.ts'
import type { Asked } from './decide.ts'

type Request = HttpAsked & { caller: Person; params: { name: string } }

type Change = Pick<Decision<Project, ProjectEvent>, 'alongside'> & {
  decide: (project: Project, asked: Asked) => ProjectEvent[]
}

/** Changes a project as its people may, those of its team included. */
export async function change(deps: Deps, request: Request, { decide, alongside }: Change) {
  const { caller, params } = request
  const { name } = params
  const teamRole = await roleByTeam(deps, { project: name, username: caller.username })
  return commit(deps, request, projectAt(name), {
    decide: project => decide(project, { caller, name, teamRole }),
    ...(alongside && { alongside }),
  })
}

async function roleByTeam(
  { pool }: Pick<Deps, 'pool'>,
  { project, username }: { project: string; username: string },
): Promise<MemberRole | null> {
  const { rows } = await pool.query<{ role: MemberRole | null }>({
    name: 'role_by_team',
    text: `select ${teamRoleIn({ project: '$1', username: '$2' })} as role`,
    values: [project, username],
  })
  return rows[0]?.role ?? null
}
