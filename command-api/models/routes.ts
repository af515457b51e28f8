import type { Person } from '../../auth/caller.ts'
import { type Route, route } from '../../auth/route.ts'
import { type Model, type ModelEvent, modelAt } from '../../events/models.ts'
import { Refusal } from '../../platform/refusal.ts'
import {
  defaultProtectedAliases,
  modelChanged,
  modelDeleted,
  modelInput,
  modelPatch,
  modelPath,
} from '../../schemas/models.ts'
import type { HttpAsked } from '../commit/asked.ts'
import { commit, create } from '../commit/commit.ts'
import type { Deps } from '../deps.ts'
import { findProject, refuseProjectOfOthers } from '../rules/short-id.ts'
import { modelToActOn } from './act-on.ts'
import { aliasRoutes } from './alias-routes.ts'
import { changeModel, createModel, deleteModel } from './decide.ts'
import { saveModel } from './rows.ts'
import { versionRoutes } from './version-routes.ts'

export const modelRoutes = (deps: Deps): Route[] => [
  createRoute(deps),
  route({
    method: 'PATCH',
    path: '/api/models/{model}',
    credential: 'person',
    reach: 'its_people',
    tag: 'models',
    summary: 'Change the description of a model, or which of its aliases are protected',
    params: modelPath,
    body: modelPatch,
    response: modelChanged,
    refusals: ['forbidden', 'not_found', 'conflict'],
    async handle(request) {
      const { model } = request.params
      return toReply(await control(deps, request, state => changeModel(state, model, request.body)))
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/models/{model}',
    credential: 'person',
    reach: 'its_people',
    tag: 'models',
    summary: 'Delete a model that has no aliases; the artifacts of its versions stay',
    params: modelPath,
    response: modelDeleted,
    refusals: ['forbidden', 'not_found', 'conflict'],
    async handle(request) {
      const { model } = request.params
      await control(deps, request, state => deleteModel(state, model))
      return { model, deleted: true as const }
    },
  }),
  ...versionRoutes(deps),
  ...aliasRoutes(deps),
]

const createRoute = (deps: Deps): Route =>
  route({
    method: 'POST',
    path: '/api/models',
    credential: 'person',
    reach: 'taken',
    tag: 'models',
    summary: 'Create a model in a project, to which versions can be added',
    body: modelInput,
    response: modelChanged,
    refusals: ['invalid', 'forbidden', 'conflict'],
    async handle(request) {
      const { caller, body } = request
      const { name: model, project, description = '' } = body
      const known = await findProject(deps.pool, project, caller)
      if (!known) throw new Refusal('invalid', `No such project: ${project}`)
      refuseProjectOfOthers(known, project, caller)
      const { protected_aliases = [...defaultProtectedAliases] } = body
      const owner = caller.username
      const target = modelAt(model)
      return create(deps, request, target, {
        make: async work =>
          toReply(
            await work.decide(target, {
              decide: state =>
                createModel(state, { model, project, owner, description, protected_aliases }),
              alongside: saveModel,
            }),
          ),
      })
    },
  })

type OnModel = HttpAsked & { caller: Person; params: { model: string } }

async function control(deps: Deps, request: OnModel, decide: (model: Model) => ModelEvent[]) {
  const { caller, params } = request
  await modelToActOn(deps.pool, { model: params.model, caller, action: 'control' })
  return commit(deps, request, modelAt(params.model), { decide, alongside: saveModel })
}

function toReply({ state, events }: { state: Model; events: readonly ModelEvent[] }) {
  if (!state) throw new Error('a model that was just changed is missing')
  const { model, project, owner, description, protected_aliases } = state
  return { model, project, owner, description, protected_aliases, changed: events.length > 0 }
}
