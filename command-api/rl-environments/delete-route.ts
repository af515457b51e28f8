import { type Route, route } from '../../auth/route.ts'
import {
  type RlEnvironment,
  type RlEnvironmentEvent,
  rlEnvironmentAt,
} from '../../events/rl-environments.ts'
import { environmentReference } from '../../schemas/rl-environments/reference.ts'
import {
  rlEnvironmentDeleted,
  rlEnvironmentDeletionQuery,
  rlEnvironmentVersionPath,
} from '../../schemas/rl-environments/rl-environments.ts'
import type { Deps } from '../deps.ts'
import { deleteUnlessUsed } from '../rules/delete-version.ts'
import { refuseUnlessEnvironmentWriter } from '../rules/rl-environment-access.ts'
import { deleteVersion } from '../rules/versions.ts'
import { saveEnvironment } from './rows.ts'

export const deleteVersionRoute = (deps: Deps): Route =>
  route({
    method: 'DELETE',
    path: '/api/environments/{owner}/{name}/{version}',
    credential: 'person',
    reach: 'its_people',
    tag: 'environments',
    summary:
      'Delete a version of an RL environment, unless runs name it; with `dry_run`, list these',
    params: rlEnvironmentVersionPath,
    query: rlEnvironmentDeletionQuery,
    response: rlEnvironmentDeleted,
    refusals: ['forbidden', 'not_found', 'conflict'],
    async handle(request) {
      await refuseUnlessEnvironmentWriter(deps.pool, request.params, request.caller)
      return deleteUnlessUsed<'run', RlEnvironment, RlEnvironmentEvent>(deps, request, {
        target: rlEnvironmentAt(request.params),
        thing: { kind: 'rl_environment', id: environmentReference(request.params) },
        code: 'environment.in_use',
        decide: environment => deleteVersion('environment', environment, request.params),
        save: saveEnvironment,
      })
    },
  })
