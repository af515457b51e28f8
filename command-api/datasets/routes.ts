import { type Route, route } from '../../auth/route.ts'
import { datasetAt } from '../../events/datasets.ts'
import { Refusal } from '../../platform/refusal.ts'
import {
  datasetChanged,
  datasetGranted,
  datasetGrantInput,
  datasetGrantPath,
  datasetPatch,
  datasetPath,
} from '../../schemas/datasets/datasets.ts'
import { Invalid } from '../../schemas/validate.ts'
import type { HttpAsked } from '../commit/asked.ts'
import { commit } from '../commit/commit.ts'
import type { Deps } from '../deps.ts'
import { refuseUnlessWriter } from '../rules/dataset-access.ts'
import { roleOf } from '../rules/enabled-person.ts'
import { existing } from '../rules/versions.ts'
import { changeDataset, grantDataset } from './decide.ts'
import { deleteVersionRoute } from './delete-route.ts'
import { saveDataset } from './rows.ts'
import { fault } from './uploaded.ts'
import { versionRoutes } from './version-routes.ts'

export const datasetRoutes = (deps: Deps): Route[] => [
  ...versionRoutes(deps),
  deleteVersionRoute(deps),
  route({
    method: 'PATCH',
    path: '/api/datasets/{owner}/{name}',
    credential: 'person',
    reach: 'its_people',
    tag: 'datasets',
    summary: 'Change the card, the license or the visibility of a dataset',
    params: datasetPath,
    body: datasetPatch,
    response: datasetChanged,
    refusals: ['forbidden', 'not_found', 'conflict'],
    async handle(request) {
      const { caller, params, body } = request
      await refuseUnlessWriter(deps.pool, params, caller)
      const { events, state } = await commit(deps, request, datasetAt(params), {
        decide: dataset => changeDataset(dataset, params, body),
        alongside: saveDataset,
      })
      const { visibility, use, license, card } = existing('dataset', state, params)
      const changed = events.length > 0
      const named = { dataset: `${params.owner}/${params.name}`, ...params }
      return { ...named, visibility, use, license, card, changed }
    },
  }),
  route({
    method: 'PUT',
    path: '/api/datasets/{owner}/{name}/grants/{username}',
    credential: 'person',
    reach: 'its_people',
    tag: 'datasets',
    summary: 'Let a person see a dataset, or use it as well: read its rows and train on it',
    params: datasetGrantPath,
    body: datasetGrantInput,
    response: datasetGranted,
    refusals: ['forbidden', 'not_found', 'conflict'],
    async handle(request) {
      const { see, use } = request.body
      if (use && !see)
        throw new Invalid([
          fault(['body', 'see'], see, 'Value error, who may use a dataset also has to see it'),
        ])
      await refuseUnlessWriter(deps.pool, request.params, request.caller)
      if ((await roleOf(deps.pool, request.params.username)) === null)
        throw new Refusal('not_found', `No such user: ${request.params.username}`)
      return setGrant(deps, request, { see, use })
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/datasets/{owner}/{name}/grants/{username}',
    credential: 'person',
    reach: 'its_people',
    tag: 'datasets',
    summary: 'Withdraw what a person was granted; their jobs that still wait will not start',
    params: datasetGrantPath,
    response: datasetGranted,
    refusals: ['forbidden', 'not_found', 'conflict'],
    async handle(request) {
      await refuseUnlessWriter(deps.pool, request.params, request.caller)
      return setGrant(deps, request, { see: false, use: false })
    },
  }),
]

type OnGrant = HttpAsked & { params: { owner: string; name: string; username: string } }

async function setGrant(deps: Deps, request: OnGrant, grant: { see: boolean; use: boolean }) {
  const { owner, name, username } = request.params
  const { events } = await commit(deps, request, datasetAt({ owner, name }), {
    decide: dataset => grantDataset(dataset, { owner, name, username, ...grant }),
    alongside: saveDataset,
  })
  return { dataset: `${owner}/${name}`, username, ...grant, changed: events.length > 0 }
}
