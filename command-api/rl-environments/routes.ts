import { type Route, route } from '../../auth/route.ts'
import { rlEnvironmentAt } from '../../events/rl-environments.ts'
import { environmentReference } from '../../schemas/rl-environments/reference.ts'
import {
  rlEnvironmentChanged,
  rlEnvironmentDeprecated,
  rlEnvironmentDeprecation,
  rlEnvironmentInput,
  rlEnvironmentPatch,
  rlEnvironmentPath,
  rlEnvironmentPublished,
  rlEnvironmentVersionPath,
} from '../../schemas/rl-environments/rl-environments.ts'
import { commit } from '../commit/commit.ts'
import type { Deps } from '../deps.ts'
import { deprecate } from '../rules/deprecate-version.ts'
import { refuseUnlessEnvironmentWriter } from '../rules/rl-environment-access.ts'
import { deprecateVersion } from '../rules/versions.ts'
import { changeEnvironment } from './decide.ts'
import { deleteVersionRoute } from './delete-route.ts'
import { type PublishPorts, publish } from './publish.ts'
import { saveEnvironment } from './rows.ts'

export const rlEnvironmentRoutes = (deps: Deps, ports: PublishPorts): Route[] => [
  route({
    method: 'POST',
    path: '/api/environments',
    credential: 'person',
    reach: 'taken',
    tag: 'environments',
    summary:
      'Publish an uploaded archive as a version of an RL environment, which is then built and tried',
    body: rlEnvironmentInput,
    response: rlEnvironmentPublished,
    refusals: ['invalid', 'forbidden', 'not_found', 'conflict', 'too_large'],
    handle: request => publish(deps, ports, request),
  }),
  route({
    method: 'PATCH',
    path: '/api/environments/{owner}/{name}',
    credential: 'person',
    reach: 'its_people',
    tag: 'environments',
    summary: 'Change who sees and uses an RL environment',
    params: rlEnvironmentPath,
    body: rlEnvironmentPatch,
    response: rlEnvironmentChanged,
    refusals: ['forbidden', 'not_found'],
    async handle(request) {
      const { caller, params, body } = request
      await refuseUnlessEnvironmentWriter(deps.pool, params, caller)
      const { events } = await commit(deps, request, rlEnvironmentAt(params), {
        decide: environment => changeEnvironment(environment, { ...params, ...body }),
        alongside: saveEnvironment,
      })
      const environment = `${params.owner}/${params.name}`
      return { environment, visibility: body.visibility, changed: events.length > 0 }
    },
  }),
  route({
    method: 'POST',
    path: '/api/environments/{owner}/{name}/{version}/deprecate',
    credential: 'person',
    reach: 'its_people',
    tag: 'environments',
    summary:
      'Mark a version of an RL environment as one that should not be used any more; jobs that name it get a warning',
    params: rlEnvironmentVersionPath,
    body: rlEnvironmentDeprecation,
    response: rlEnvironmentDeprecated,
    refusals: ['forbidden', 'not_found', 'conflict'],
    async handle(request) {
      await refuseUnlessEnvironmentWriter(deps.pool, request.params, request.caller)
      return deprecate(deps, request, {
        target: rlEnvironmentAt(request.params),
        ref: environmentReference(request.params),
        decide: one => deprecateVersion('environment', one, { ...request.params, ...request.body }),
        save: saveEnvironment,
      })
    },
  }),
  deleteVersionRoute(deps),
]
