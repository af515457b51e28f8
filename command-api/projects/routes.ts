import { type Route, route } from '../../auth/route.ts'
import type { ProjectEvent } from '../../events/projects.ts'
import {
  memberInput,
  memberPath,
  memberRemoved,
  memberSet,
  projectPatch,
  projectPatched,
  projectPath,
} from '../../schemas/projects.ts'
import type { Transaction } from '../commit/event-store.ts'
import type { Deps } from '../deps.ts'
import { refuseUnknownPerson } from '../rules/enabled-person.ts'
import { change } from './change.ts'
import { changeSettings, removeMember, setMember } from './decide.ts'
import { teamRoute } from './team-route.ts'

export const projectRoutes = (deps: Deps): Route[] => [
  route({
    method: 'PATCH',
    path: '/api/projects/{name}',
    credential: 'person',
    reach: 'its_people',
    tag: 'projects',
    summary: 'Change the visibility and the notes of a project',
    params: projectPath,
    body: projectPatch,
    response: projectPatched,
    refusals: ['forbidden', 'not_found', 'conflict'],
    async handle(request) {
      const { params, body } = request
      const { state, events } = await change(deps, request, {
        decide: (project, asked) => changeSettings(project, asked, body),
        alongside: saveForRules,
      })
      if (!state) throw new Error('a project that was just changed is missing')
      const { members: _, ...settings } = state
      return { name: params.name, ...settings, changed: events.length > 0 }
    },
  }),
  route({
    method: 'PUT',
    path: '/api/projects/{name}/members/{username}',
    credential: 'person',
    reach: 'its_people',
    tag: 'projects',
    summary: 'Make a person a member of a project, or give a member another role',
    params: memberPath,
    body: memberInput,
    response: memberSet,
    refusals: ['invalid', 'forbidden', 'not_found', 'conflict'],
    async handle(request) {
      const { name, username } = request.params
      const { role } = request.body
      const { events } = await change(deps, request, {
        decide: (project, asked) => setMember(project, asked, { username, role }),
        alongside: saveForRules,
      })
      return { project: name, username, role, changed: events.length > 0 }
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/projects/{name}/members/{username}',
    credential: 'person',
    reach: 'its_people',
    tag: 'projects',
    summary: "End a person's membership; their open streams of the project end with it",
    params: memberPath,
    response: memberRemoved,
    refusals: ['forbidden', 'not_found', 'conflict'],
    async handle(request) {
      const { name, username } = request.params
      await change(deps, request, {
        decide: (project, asked) => removeMember(project, asked, username),
        alongside: saveForRules,
      })
      return { project: name, username, removed: true }
    },
  }),
  teamRoute(deps),
]

/** Updates the rows from which other commands decide who may submit and act on runs. */
async function saveForRules(
  tx: Transaction,
  { events }: { events: readonly ProjectEvent[] },
): Promise<void> {
  for (const event of events) await saveEvent(tx, event)
}

async function saveEvent(tx: Transaction, event: ProjectEvent): Promise<void> {
  switch (event.type) {
    case 'project.created':
      throw new Error('a project is created by the first run that is submitted to it')
    case 'project.changed': {
      const { name, visibility } = event.data
      await tx.query('update write.project set visibility = $2 where name = $1', [name, visibility])
      return
    }
    case 'project.member_set': {
      const { name, username, role } = event.data
      await refuseUnknownPerson(tx, username)
      await tx.query(
        `insert into write.project_member (project, username, role) values ($1, $2, $3)
         on conflict (project, username) do update set role = excluded.role`,
        [name, username, role],
      )
      return
    }
    case 'project.transferred':
      throw new Error(
        'a project is transferred by its own route, or when its owner leaves the team',
      )
    case 'project.member_removed': {
      const { name, username } = event.data
      await tx.query('delete from write.project_member where project = $1 and username = $2', [
        name,
        username,
      ])
      return
    }
  }
}
