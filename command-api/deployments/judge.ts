import { Refusal } from '../../platform/refusal.ts'
import type { Deps } from '../deps.ts'
import type { Asking } from '../rules/access.ts'
import { deploymentToActOn } from './act-on.ts'
import { baseUrlOf } from './create-route.ts'

export type JudgingDeployment = {
  deployment_id: string
  /** The promoted revision. */
  revision_id: string
  /** The name under which the engine serves its model. */
  model: string
  /** The address of its inference. */
  url: string
}

/** A deployment for a person who may use it as a judge, by the same rule as the playground; 409 if it serves nothing. */
export async function deploymentToJudge(
  deps: Pick<Deps, 'pool' | 'baseUrl'>,
  caller: Asking,
  asked: string,
): Promise<JudgingDeployment> {
  const { deployment_id } = await deploymentToActOn(deps.pool, { asked, caller, action: 'submit' })
  const { rows } = await deps.pool.query<{ revision_id: string; model: string | null }>(
    `select d.promoted_revision_id as revision_id, v.serving #>> '{served_names,0}' as model
       from write.deployment_state d join write.revision_state v on v.revision_id = d.promoted_revision_id
       join write.deployment_route r on r.deployment_id = d.deployment_id and r.state = 'serving'
      where d.deployment_id = $1`,
    [deployment_id],
  )
  const [row] = rows
  if (!row)
    throw new Refusal(
      'conflict',
      `The deployment ${asked} serves nothing now, so it cannot be asked`,
      {
        code: 'judging.no_judge',
      },
    )
  const { revision_id, model } = row
  return {
    deployment_id,
    revision_id,
    model: model ?? 'default',
    url: baseUrlOf(deps, deployment_id),
  }
}
