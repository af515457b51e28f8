import { type Route, route } from '../../auth/route.ts'
import { type Model, type ModelEvent, modelAt } from '../../events/models.ts'
import {
  modelPath,
  versionChanged,
  versionInput,
  versionPatch,
  versionPath,
} from '../../schemas/models.ts'
import { commit, create } from '../commit/commit.ts'
import type { Deps } from '../deps.ts'
import { modelToActOn } from './act-on.ts'
import { changeVersion, createVersion, versionOf } from './decide.ts'
import { lockSource, saveModel } from './rows.ts'

export const versionRoutes = (deps: Deps): Route[] => [
  route({
    method: 'POST',
    path: '/api/models/{model}/versions',
    credential: 'person',
    reach: 'its_people',
    tag: 'models',
    summary: 'Make an artifact of the project the next version of a model, which protects it',
    params: modelPath,
    body: versionInput,
    response: versionChanged,
    refusals: ['invalid', 'forbidden', 'not_found', 'conflict'],
    async handle(request) {
      const { caller, params, body } = request
      const { model } = params
      const { artifact_id, stage_notes = '', license = null } = body
      const { project } = await modelToActOn(deps.pool, { model, caller, action: 'submit' })
      const target = modelAt(model)
      return create(deps, request, target, {
        async make(work) {
          const { run_id } = await lockSource(work.tx, { artifact_id, project })
          const decided = await work.decide(target, {
            decide: state =>
              createVersion(state, model, { artifact_id, run_id, stage_notes, license }),
            alongside: saveModel,
          })
          return toReply(decided, decided.state?.versions.length ?? 0)
        },
      })
    },
  }),
  route({
    method: 'PATCH',
    path: '/api/models/{model}/versions/{version}',
    credential: 'person',
    reach: 'its_people',
    tag: 'models',
    summary: 'Archive or restore a version, or rewrite its notes',
    params: versionPath,
    body: versionPatch,
    response: versionChanged,
    refusals: ['forbidden', 'not_found', 'conflict'],
    async handle(request) {
      const { caller, params, body } = request
      await modelToActOn(deps.pool, { model: params.model, caller, action: 'submit' })
      const decided = await commit(deps, request, modelAt(params.model), {
        decide: state => changeVersion(state, params, body),
        alongside: saveModel,
      })
      return toReply(decided, params.version)
    },
  }),
]

function toReply(
  { state, events }: { state: Model; events: readonly ModelEvent[] },
  version: number,
) {
  if (!state) throw new Error('a model that was just changed is missing')
  return { model: state.model, ...versionOf(state, version), changed: events.length > 0 }
}
