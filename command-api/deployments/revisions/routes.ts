import { type Route, route } from '../../../auth/route.ts'
import { deploymentAt } from '../../../events/deployments.ts'
import {
  deploymentChanged,
  deploymentPath,
  revisionCreated,
  revisionInput,
  revisionPath,
} from '../../../schemas/deployments/deployments.ts'
import { create } from '../../commit/commit.ts'
import type { Deps } from '../../deps.ts'
import { change, toChange, toReply } from '../change.ts'
import type { FindTemplate } from '../ports.ts'
import { saveDeployment, servingLock } from '../rows.ts'
import { createRevision, retireRevision } from './decide.ts'
import { resolveServing } from './serving.ts'
import { resolveSource, sourcesOf } from './source.ts'

export const revisionRoutes = (deps: Deps, findTemplate: FindTemplate): Route[] => [
  route({
    method: 'POST',
    path: '/api/deployments/{deployment_id}/revisions',
    credential: 'person',
    reach: 'its_people',
    tag: 'deployments',
    summary: 'Create a revision; it serves once it is ready and promoted',
    params: deploymentPath,
    body: revisionInput,
    response: revisionCreated,
    refusals: [
      ...(['invalid', 'forbidden', 'not_found', 'conflict'] as const),
      ...(['not_configured', 'backend_failed'] as const),
    ],
    async handle(request) {
      const { caller, body } = request
      const { deployment_id } = await toChange(deps, request)
      const { source } = await resolveSource(sourcesOf(deps), caller, body.source)
      const serving = await resolveServing(body.serving ?? {}, source, findTemplate)
      const { header } = body.source
      const secret = header && { header, headers: deps.engineHeaders }
      const revision_id = deps.newId('rev')
      const target = deploymentAt(deployment_id)
      return create(deps, request, target, {
        locks: [servingLock],
        async make(work) {
          const { state } = await work.decide(target, {
            decide: deployment =>
              createRevision(deployment, {
                revision_id,
                source,
                serving,
                auto_promote: body.promote,
              }),
            alongside: (tx, decided) => saveDeployment(tx, decided, { secret }),
          })
          const number = state?.revisions[revision_id]?.number ?? 0
          return { deployment_id, revision_id, number, state: 'pending' }
        },
      })
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/deployments/{deployment_id}/revisions/{revision_id}',
    credential: 'person',
    reach: 'its_people',
    tag: 'deployments',
    summary: 'Retire a revision that is not promoted: its replicas end permanently',
    params: revisionPath,
    response: deploymentChanged,
    refusals: ['forbidden', 'not_found', 'conflict'],
    async handle(request) {
      const { deployment_id } = await toChange(deps, request)
      return toReply(
        await change(deps, request, deployment_id, {
          decide: deployment =>
            retireRevision(deployment, request.params.revision_id, 'somebody retired it'),
        }),
      )
    },
  }),
]
