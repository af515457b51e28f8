import type { Person } from '../../auth/caller.ts'
import { type Route, route } from '../../auth/route.ts'
import { hubPushAt } from '../../events/hub-pushes.ts'
import { Refusal } from '../../platform/refusal.ts'
import {
  type HubPushInput,
  hubPushCancelled,
  hubPushInput,
  hubPushMade,
  hubPushPath,
} from '../../schemas/hub-pushes.ts'
import { commit, create, fresh } from '../commit/commit.ts'
import type { Deps } from '../deps.ts'
import { resolveModel } from '../rules/model-reference.ts'
import { pushFault } from '../rules/push-to-hub.ts'
import { contentFor } from './content.ts'
import { cancelPush, requestPush } from './decide.ts'
import { findPush, refuseTooMany, savePush } from './rows.ts'

export const hubPushRoutes = (deps: Deps): Route[] => [
  route({
    method: 'POST',
    path: '/api/hub-pushes',
    credential: 'person',
    tag: 'hub-pushes',
    summary: 'Send an artifact of kind hf_export to a repository of the hub, with a model card',
    body: hubPushInput,
    response: hubPushMade,
    refusals: ['invalid', 'conflict', 'not_configured', 'backend_failed'],
    async handle(request) {
      const { caller, body } = request
      const { username: owner } = caller
      const { artifact_id, model } = await sourceOf(deps, caller, body)
      const { run_id } = await contentFor(deps.pool, caller, artifact_id)
      // Before the transaction: it takes as long as the hub.
      const fault = await pushFault(deps, { repo: body.repo, username: owner })
      if (fault !== null) throw new Refusal('invalid', fault.why, { code: fault.code })
      const push_id = deps.newId('hpsh')
      const { repo, private: isPrivate } = body
      const facts = { push_id, owner, repo, private: isPrivate, run_id, artifact_id, model }
      const target = fresh(hubPushAt({ push_id }))
      return create(deps, request, target, {
        locks: [`pushes of ${owner}`],
        async make(work) {
          await refuseTooMany(work.tx, owner)
          await work.decide(target, {
            decide: before => requestPush(before, facts),
            alongside: savePush,
          })
          return { ...facts, state: 'requested' as const }
        },
      })
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/hub-pushes/{push_id}',
    credential: 'person',
    reach: 'its_people',
    tag: 'hub-pushes',
    summary: 'Stop sending an artifact to the hub; what was sent completely stays there',
    params: hubPushPath,
    response: hubPushCancelled,
    refusals: ['not_found'],
    async handle(request) {
      const { caller, params } = request
      const found = await findPush(deps.pool, params.push_id)
      if (!found || (found.owner !== caller.username && caller.role !== 'admin'))
        throw new Refusal('not_found', `Nothing is sent to the hub under ${params.push_id}`)
      const { push_id, owner, repo } = found
      const { state, events } = await commit(deps, request, hubPushAt(found), {
        decide: before => cancelPush(before, { push_id, owner, repo }),
        alongside: savePush,
      })
      if (!state) throw new Error('a push that was just changed is missing')
      return { push_id, state: state.state, changed: events.length > 0 }
    },
  }),
]

async function sourceOf(deps: Deps, caller: Person, { artifact_id, model }: HubPushInput) {
  if ((artifact_id === undefined) === (model === undefined))
    throw new Refusal('invalid', 'Name either an artifact_id or a model', { code: 'hub.source' })
  if (artifact_id !== undefined) return { artifact_id, model: null }
  const found = await resolveModel(deps.pool, model ?? '', caller)
  return { artifact_id: found.artifact_id, model: `${found.model}@${found.version}` }
}
