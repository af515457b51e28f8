import { type Route, route } from '../../auth/route.ts'
import type { Project, ProjectEvent } from '../../events/projects.ts'
import { Refusal } from '../../platform/refusal.ts'
import { projectPath, projectTeamInput, projectTeamSet } from '../../schemas/projects.ts'
import type { Decided } from '../commit/commit.ts'
import type { Transaction } from '../commit/event-store.ts'
import type { Deps } from '../deps.ts'
import type { Asking } from '../rules/access.ts'
import { saveTransfers } from '../rules/hand-over.ts'
import { holdTeam, refuseUnlessInTeam, roleInTeam } from '../rules/teams.ts'
import { change } from './change.ts'
import { transferProject } from './decide.ts'

export const teamRoute = (deps: Deps): Route =>
  route({
    method: 'PUT',
    path: '/api/projects/{name}/team',
    credential: 'person',
    reach: 'its_people',
    tag: 'projects',
    summary: 'Give a project to a team, or take it back; the roles in the team then apply to it',
    params: projectPath,
    body: projectTeamInput,
    response: projectTeamSet,
    refusals: ['invalid', 'forbidden', 'not_found', 'conflict'],
    async handle(request) {
      const { caller, params, body } = request
      const { team, owner } = body
      const { state, events } = await change(deps, request, {
        decide: (project, asked) => transferProject(project, asked, { team, owner }),
        async alongside(tx, decided) {
          await judgeTransfer(tx, decided, caller)
          await saveTransfers(tx, decided)
        },
      })
      if (!state) throw new Error('a project that was just transferred is missing')
      return { project: params.name, team, owner: state.owner, changed: events.length > 0 }
    },
  })

/** What the roles in both teams permit. */
async function judgeTransfer(
  tx: Transaction,
  { before, state }: Decided<Project, ProjectEvent>,
  caller: Asking,
): Promise<void> {
  if (!before || !state) return
  if (before.team !== null && before.team !== state.team)
    await refuseUnlessOwner(tx, before.team, caller)
  if (state.team !== null && before.team !== state.team) {
    await refuseUnlessInTeam(tx, { team: state.team, caller, action: 'maintain' })
    await holdTeam(tx, state.team)
  }
  if (before.owner !== state.owner) await judgeOwner(tx, { ...state, before, caller })
}

async function refuseUnlessOwner(tx: Transaction, team: string, caller: Asking): Promise<void> {
  if (caller.role === 'admin' || (await roleInTeam(tx, team, caller.username)) === 'owner') return
  throw new Refusal('forbidden', `Only owners of team ${team} and admins may do this`, {
    code: 'team.role',
  })
}

type NewOwner = {
  owner: string
  team: string | null
  before: { team: string | null }
  caller: Asking
}

/** Another owner must be in the team that the project is in, or was in. */
async function judgeOwner(tx: Transaction, { owner, team, before, caller }: NewOwner) {
  const within = team ?? before.team
  if (within === null)
    throw new Refusal('invalid', 'A project that is in no team keeps its owner', {
      code: 'team.no_heir',
    })
  await refuseUnlessOwner(tx, within, caller)
  const role = await roleInTeam(tx, within, owner)
  if (role === null || role === 'viewer')
    throw new Refusal(
      'invalid',
      `${owner} is not a member of team ${within} who may own projects`,
      {
        code: 'team.no_heir',
      },
    )
}
