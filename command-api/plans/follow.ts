import { planAt } from '../../events/plans.ts'
import { loadState } from '../commit/snapshots.ts'
import type { Deps } from '../deps.ts'
import { decisionFollower } from '../effects/follower.ts'
import { type Change, decided, nothing } from '../effects/outcome.ts'
import { blockPlan, type EndedRun, endRun, stageOfDeployment, succeedStage } from './decide.ts'
import { planOfPart, savePlan } from './rows.ts'

type Needed = Pick<Deps, 'pool' | 'store'>

/** Records in their plan how runs ended and what became of deployments; the next step follows from that (`advance.ts`). */
export const planRuns = () =>
  decisionFollower<Needed>({
    name: 'plan-runs',
    begins: 'end',
    onPoison: 'park',
    async follow({ type, data }, deps) {
      switch (type) {
        case 'job.succeeded':
        case 'job.failed':
        case 'job.stopped': {
          const reason = 'reason' in data && typeof data.reason === 'string' ? data.reason : null
          const plan_id = await planOfPart(deps.pool, data.run_id)
          const state = type === 'job.succeeded' ? 'succeeded' : endOf[type]
          return plan_id === null
            ? nothing
            : [ended(plan_id, { run_id: data.run_id, state, reason })]
        }
        case 'deployment.revision_ready':
          return [...(await deployed(deps, data.deployment_id, null))]
        case 'deployment.revision_failed':
          return [...(await deployed(deps, data.deployment_id, data.reason))]
        default:
          return nothing
      }
    },
  })

const endOf = { 'job.failed': 'failed', 'job.stopped': 'stopped' } as const

export const ended = (plan_id: string, run: EndedRun): Change =>
  decided(planAt(plan_id), { decide: plan => endRun(plan, run), alongside: savePlan })

/** `failure`: why it serves nothing; null: it serves. */
async function deployed(
  { pool, store }: Needed,
  deployment_id: string,
  failure: string | null,
): Promise<Change[]> {
  const plan_id = await planOfPart(pool, deployment_id)
  if (plan_id === null) return []
  const { state } = await loadState(store, undefined, planAt(plan_id))
  const stage = state ? stageOfDeployment(state, deployment_id) : -1
  return [
    decided(planAt(plan_id), {
      decide: plan =>
        failure === null
          ? succeedStage(plan, stage, null)
          : blockPlan(plan, { stage, reason: `deployment ${deployment_id} failed: ${failure}` }),
      alongside: savePlan,
    }),
  ]
}
