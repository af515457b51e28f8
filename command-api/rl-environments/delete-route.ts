import { type Route, route } from '../../auth/route.ts'
import {
  type RlEnvironmentEvent,
  rlEnvironmentAt,
  rlEnvironments,
} from '../../events/rl-environments.ts'
import { environmentReference } from '../../schemas/rl-environments/reference.ts'
import {
  rlEnvironmentDeleted,
  rlEnvironmentDeletionQuery,
  rlEnvironmentVersionPath,
} from '../../schemas/rl-environments/rl-environments.ts'
import { commit } from '../commit/commit.ts'
import type { Deps } from '../deps.ts'
import { refuseUnlessEnvironmentWriter } from '../rules/rl-environment-access.ts'
import {
  holdForDeletion,
  refuseUsed,
  toNamed,
  type User,
  usersOf,
} from '../rules/users-of-thing.ts'
import { deleteVersion } from './decide.ts'
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
      const { caller, params, query } = request
      const { dry_run = false, force = false } = query
      await refuseUnlessEnvironmentWriter(deps.pool, params, caller)
      const ref = environmentReference(params)
      const thing = { kind: 'rl_environment', id: ref }
      if (dry_run) {
        const { events } = await deps.store.load<RlEnvironmentEvent>(rlEnvironmentAt(params).stream)
        deleteVersion(events.reduce(rlEnvironments.evolve, rlEnvironments.initial), params)
        const users = await usersOf<'run'>(deps.pool, thing, caller)
        return { ref, deleted: false, would_break: users.flatMap(toNamed) }
      }
      let users: User<'run'>[] = []
      await commit(deps, request, rlEnvironmentAt(params), {
        decide: environment => deleteVersion(environment, params),
        async alongside(tx, decided) {
          users = await holdForDeletion(tx, thing, caller)
          refuseUsed(thing, users, { force, code: 'environment.in_use' })
          await saveEnvironment(tx, decided)
        },
      })
      return { ref, deleted: true, would_break: users.flatMap(toNamed) }
    },
  })
