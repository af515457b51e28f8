import type { Person } from '../../auth/caller.ts'
import { type Route, route } from '../../auth/route.ts'
import { projectAt } from '../../events/projects.ts'
import { teamAt } from '../../events/teams.ts'
import {
  handOver,
  teamMemberGone,
  teamMemberInput,
  teamMemberPath,
  teamMemberSaved,
  teamPath,
} from '../../schemas/teams.ts'
import type { HttpAsked } from '../commit/asked.ts'
import { commit, create } from '../commit/commit.ts'
import type { Deps } from '../deps.ts'
import { refuseUnknownPerson } from '../rules/enabled-person.ts'
import { type HandedOver, handOverProjects, projectsOfOwner } from '../rules/hand-over.ts'
import { removeMember, setMember } from './decide.ts'
import { saveTeam } from './rows.ts'

const ofMember = {
  path: '/api/teams/{name}/members/{username}',
  credential: 'person',
  reach: 'its_people',
  tag: 'teams',
  params: teamMemberPath,
} as const

export const memberRoutes = (deps: Deps): Route[] => [
  route({
    ...ofMember,
    method: 'PUT',
    summary: 'Make a person a member of a team, or give a member another role',
    body: teamMemberInput,
    response: teamMemberSaved,
    refusals: ['invalid', 'forbidden', 'not_found', 'conflict'],
    async handle(request) {
      const { caller, params, body } = request
      const { name, username } = params
      const { role } = body
      const { events } = await commit(deps, request, teamAt(name), {
        decide: team => setMember(team, { caller, name }, { username, role }),
        async alongside(tx, decided) {
          await refuseUnknownPerson(tx, username)
          await saveTeam(tx, decided)
        },
      })
      return { team: name, username, role, changed: events.length > 0 }
    },
  }),
  route({
    ...ofMember,
    method: 'DELETE',
    summary: "End a person's membership; their projects of the team get another owner",
    query: handOver,
    response: teamMemberGone,
    refusals: ['invalid', 'forbidden', 'not_found', 'conflict'],
    handle: request =>
      removeFrom(deps, request, {
        username: request.params.username,
        to: request.query.hand_over_to,
      }),
  }),
  route({
    method: 'POST',
    path: '/api/teams/{name}/leave',
    credential: 'person',
    reach: 'its_people',
    tag: 'teams',
    summary: "Leave a team; one's projects of the team get another owner",
    params: teamPath,
    body: handOver,
    response: teamMemberGone,
    refusals: ['invalid', 'forbidden', 'not_found', 'conflict'],
    handle: request =>
      removeFrom(deps, request, {
        username: request.caller.username,
        to: request.body.hand_over_to,
      }),
  }),
]

type Request = HttpAsked & { caller: Person; params: { name: string } }
type Leaving = { username: string; to: string | undefined }

async function removeFrom(deps: Deps, request: Request, { username, to }: Leaving) {
  const { caller, params } = request
  const { name } = params
  const target = teamAt(name)
  const projects = await projectsOfOwner(deps.pool, { team: name, owner: username })
  const handed_over = await create(deps, request, target, {
    locks: projects.map(project => projectAt(project).stream),
    async make(work): Promise<HandedOver[]> {
      const { before } = await work.decide(target, {
        decide: team => removeMember(team, { caller, name }, username),
        alongside: saveTeam,
      })
      return handOverProjects(work, { team: name, before, from: username, to, locked: projects })
    },
  })
  return { team: name, username, removed: true as const, handed_over }
}
