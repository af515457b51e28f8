import { type Route, route } from '../../auth/route.ts'
import { type LiveTeam, type Team, teamAt } from '../../events/teams.ts'
import { Refusal } from '../../platform/refusal.ts'
import {
  teamGone,
  teamGroupGone,
  teamGroupInput,
  teamGroupPath,
  teamGroupSaved,
  teamInput,
  teamPatch,
  teamPath,
  teamSaved,
} from '../../schemas/teams.ts'
import { commit, create } from '../commit/commit.ts'
import type { Transaction } from '../commit/event-store.ts'
import type { Deps } from '../deps.ts'
import type { Asking } from '../rules/access.ts'
import { hasBudget } from '../rules/over-budget.ts'
import { holdForDeletion, toNamed } from '../rules/users-of-thing.ts'
import { changeTeam, createTeam, deleteTeam, removeGroup, setGroup } from './decide.ts'
import { memberRoutes } from './member-routes.ts'
import { saveTeam } from './rows.ts'

export const teamRoutes = (deps: Deps): Route[] => [
  createRoute(deps),
  changeRoute(deps),
  ...memberRoutes(deps),
  ...groupRoutes(deps),
  deleteRoute(deps),
]

const createRoute = (deps: Deps): Route =>
  route({
    method: 'POST',
    path: '/api/teams',
    credential: 'person',
    tag: 'teams',
    summary: 'Create a team; the caller is its first owner',
    body: teamInput,
    response: teamSaved,
    refusals: ['conflict'],
    async handle(request) {
      const { caller, body } = request
      const { name, description = '' } = body
      const target = teamAt(name)
      return create(deps, request, target, {
        async make(work) {
          const { state } = await work.decide(target, {
            decide: team => createTeam(team, { caller, name }, description),
            alongside: saveTeam,
          })
          return toSaved(name, state, true)
        },
      })
    },
  })

const ofTeam = {
  path: '/api/teams/{name}',
  credential: 'person',
  reach: 'its_people',
  tag: 'teams',
  params: teamPath,
} as const

const changeRoute = (deps: Deps): Route =>
  route({
    ...ofTeam,
    method: 'PATCH',
    summary: 'Change the description of a team, or as an admin its pool',
    body: teamPatch,
    response: teamSaved,
    refusals: ['forbidden', 'not_found', 'conflict'],
    async handle(request) {
      const { caller, params, body } = request
      const { state, events } = await commit(deps, request, teamAt(params.name), {
        decide: team => changeTeam(team, { caller, name: params.name }, body),
        alongside: saveTeam,
      })
      return toSaved(params.name, state, events.length > 0)
    },
  })

const ofGroup = {
  path: '/api/teams/{name}/groups/{group}',
  credential: 'admin',
  tag: 'teams',
  params: teamGroupPath,
  refusals: ['forbidden', 'not_found', 'conflict'],
} as const

const groupRoutes = (deps: Deps): Route[] => [
  route({
    ...ofGroup,
    method: 'PUT',
    summary:
      'Make the people of a group of the identity provider members, from their next sign-in on',
    body: teamGroupInput,
    response: teamGroupSaved,
    async handle(request) {
      const { caller, params, body } = request
      const { name, group } = params
      const { events } = await commit(deps, request, teamAt(name), {
        decide: team => setGroup(team, { caller, name }, { group, role: body.role }),
        alongside: saveTeam,
      })
      return { team: name, group, role: body.role, changed: events.length > 0 }
    },
  }),
  route({
    ...ofGroup,
    method: 'DELETE',
    summary: 'Take a group off a team; its people stay members until their next sign-in',
    response: teamGroupGone,
    async handle(request) {
      const { caller, params } = request
      const { name, group } = params
      await commit(deps, request, teamAt(name), {
        decide: team => removeGroup(team, { caller, name }, group),
        alongside: saveTeam,
      })
      return { team: name, group, removed: true }
    },
  }),
]

const deleteRoute = (deps: Deps): Route =>
  route({
    ...ofTeam,
    method: 'DELETE',
    summary: 'Delete a team; 409 while it owns projects, deployments, unfinished jobs or a budget',
    response: teamGone,
    refusals: ['forbidden', 'not_found', 'conflict'],
    async handle(request) {
      const { caller, params } = request
      const { name } = params
      await commit(deps, request, teamAt(name), {
        decide: team => deleteTeam(team, { caller, name }),
        async alongside(tx, decided) {
          await refuseInUse(tx, name, caller)
          await saveTeam(tx, decided)
        },
      })
      return { name, deleted: true }
    },
  })

/** Who begins to use the team locks its row as well (`rules/teams.ts`): they come first and are seen, or find it deleted. */
async function refuseInUse(tx: Transaction, name: string, caller: Asking): Promise<void> {
  const users = await holdForDeletion(tx, { kind: 'team', id: name }, caller)
  const budget = (await hasBudget(tx, name)) ? ['its budget'] : []
  if (users.length === 0 && budget.length === 0) return
  const shown = users.filter(one => one.may_read)
  const hidden = users.length - shown.length
  const who = [
    ...budget,
    ...shown.map(one => `${one.type} ${one.name}`),
    ...(hidden > 0 ? [`${hidden} more that you may not read`] : []),
  ]
  throw new Refusal('conflict', `Team ${name} still has ${who.join(', ')}`, {
    code: 'team.in_use',
    data: { users: users.flatMap(toNamed), hidden },
    hint: 'Move its projects, delete its deployments and budget, and stop its jobs first',
  })
}

function toSaved(name: string, team: Team, changed: boolean) {
  const { description, pool } = team as LiveTeam
  return { name, description, pool, changed }
}
