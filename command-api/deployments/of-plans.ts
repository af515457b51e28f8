import type { Person, Submitter } from '../../auth/caller.ts'
import type { DeploymentInput, Source } from '../../schemas/deployments/deployments.ts'
import type { LookedStage } from '../../schemas/plans.ts'
import type { Deps } from '../deps.ts'
import { createOne } from './create-route.ts'
import type { FindTemplate } from './ports.ts'
import { resolveServing } from './revisions/serving.ts'

type Deploy = { name: string; select: 'best' | 'latest'; serving?: DeploymentInput['serving'] }
type Made = {
  deployment_id: string
  project: string
  run_id: string
  deploy: Deploy
  caller: Submitter
}

const ofRun = { kind: 'artifact' } as Source

/** The deployments of plans, made as their submitter would make them. */
export const deploymentsOfPlans = (deps: Deps, findTemplate: FindTemplate) => ({
  async lookAtDeploy({ serving = {} }: Deploy): Promise<LookedStage> {
    const { template, template_version, template_digest } = await resolveServing(
      serving,
      ofRun,
      findTemplate,
    )
    const is = `${template_version} ${template_digest}`
    return {
      ...{ gates: [], warnings: [], estimate: null },
      seen: [{ what: 'recipe', name: `template ${template}`, is }],
    }
  },
  async deploy({ deployment_id, project, run_id, deploy, caller }: Made): Promise<void> {
    if (await exists(deps, deployment_id)) return
    const { name, select, serving } = deploy
    const body: DeploymentInput = {
      ...{ name, project, source: { kind: 'run', run_id, select } },
      ...(serving && { serving }),
    }
    const request = { caller: asPerson(caller), body, requestId: deployment_id, ctx }
    try {
      await createOne(deps, request, findTemplate, deployment_id)
    } catch (error) {
      // Another process may have made it.
      if (!(await exists(deps, deployment_id))) throw error
    }
  },
})

const ctx = { method: 'POST', path: 'plans', get: () => '', set: () => {} }

/** Without a session: nothing here asks for one. */
const asPerson = (caller: Submitter): Person => ({
  ...{ ...caller, sid: '', issuedAt: new Date(0), expiresAt: new Date(0) },
})

async function exists({ pool }: Deps, deployment_id: string): Promise<boolean> {
  const { rowCount } = await pool.query(
    'select 1 from write.deployment_state where deployment_id = $1',
    [deployment_id],
  )
  return rowCount !== 0
}
