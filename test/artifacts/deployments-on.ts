import { commit } from '../../command-api/commit/commit.ts'
import { createDeployment } from '../../command-api/deployments/decide.ts'
import type { retireRevision } from '../../command-api/deployments/revisions/decide.ts'
import { saveDeployment } from '../../command-api/deployments/rows.ts'
import { type Deployment, deploymentAt } from '../../events/deployments.ts'
import { eventStoreOn } from '../servers/event-store.ts'
import type { Forge } from '../servers/forge.ts'

const by = { actor: { type: 'system', id: 'test', via: 'timer' }, requestId: 'test' } as const

/** Deployments as requests make them, without a template that could serve these files. */
export function deploymentsOn(forge: Forge) {
  const deps = { store: eventStoreOn(forge.pool), now: () => new Date() }
  const decide = (
    deployment_id: string,
    of: (deployment: Deployment) => ReturnType<typeof retireRevision>,
  ) =>
    commit(deps, by, deploymentAt(deployment_id), {
      decide: of,
      alongside: (tx, decided) => saveDeployment(tx, decided),
    })
  return {
    decide,
    serve: (name: string, artifact_id: string, project = 'shown') =>
      decide(`dep_${name}`, deployment =>
        createDeployment(
          deployment,
          {
            ...{ deployment_id: `dep_${name}`, owner: 'admin', project, name, team: null },
            ...{ min_replicas: 0, max_replicas: 1, max_body_bytes: 1024, timeout_s: 600 },
            max_concurrency: 10,
          },
          {
            revision_id: `rev_${name}`,
            auto_promote: false,
            source: {
              ...{ kind: 'artifact', artifact_id, run_id: null, model: null, hub_ref: null },
              ...{ digest: null, url: null, header_name: null },
            },
            serving: {
              ...{ template: null, template_version: null, template_digest: null, framework: null },
              ...{ engine: 'external', engine_version: null, image: null, params: {}, args: [] },
              ...{ tensor_parallel: 1, served_names: ['default'], dtype: null, quantization: null },
              ...{ profile: null, chat_template: null, smoke: 'chat' },
            },
          },
        ),
      ),
  }
}
